package assign

import "errors"

// ErrInconsistent says that a scheduler's books were about to do what no rule does: a fault of this package, please report it
// with what the error says. The term ends before any harm is done; the next one reads the stream anew.
var ErrInconsistent = errors.New("assign: the scheduler's books contradict themselves; the next term reads them anew")

// ErrAttemptsExhausted says that a task was handed out four thousand million times in one epoch. The term ends; the next
// one counts anew.
var ErrAttemptsExhausted = errors.New("assign: the attempts of this epoch are used up; the next term counts anew")
