import { seedTests } from '../support/seeded-rollout.ts';

seedTests(1, 2);
