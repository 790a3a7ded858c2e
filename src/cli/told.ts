/** What a command has said of itself already: its exit code is all that is left to be given. */
export const TOLD = 'lockstep.told';
