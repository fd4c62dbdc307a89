import { Command } from 'commander';
import { agentCommand } from './agent-command.ts';

/** `block-rollout`: what people and clusters do from a command line. */
await new Command('block-rollout')
  .description('Rolls block versions out to fleets of Kubernetes clusters, in waves.')
  .addCommand(agentCommand())
  .parseAsync();
