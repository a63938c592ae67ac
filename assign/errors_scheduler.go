package assign

import "errors"

// ErrAttemptsExhausted says that a task was handed out four thousand million times in one epoch. The term ends; the next
// one counts anew.
var ErrAttemptsExhausted = errors.New("assign: the attempts of this epoch are used up; the next term counts anew")
