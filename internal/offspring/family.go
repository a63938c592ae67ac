package offspring

// Family is a program and its descendants.
type Family struct {
	First <-chan End      // when the program itself has ended
	None  <-chan struct{} // closed when nobody is left; then another Claim succeeds
}

// End is how the program itself has ended.
type End struct {
	Code int  // as a shell has it: 128 plus the signal; -1 if somebody else has waited for it
	Left bool // it has left somebody behind
}
