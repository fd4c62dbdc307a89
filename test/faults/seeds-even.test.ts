import { seedTests } from '../support/seeded-rollout.ts';

seedTests(0, 2);
