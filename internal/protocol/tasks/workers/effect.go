package workers

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// Effect is what a worker wants done.
type Effect interface{ workerEffect() }

type (
	// Start runs a handler; Ended follows.
	Start struct{ Assignment tasks.Assignment }
	// Halt cancels a handler, which is told the Status of its Stop; Ended follows all the same.
	Halt struct {
		ID      string
		Attempt tasks.Attempt
		Status  tasks.Status
	}
	// Reply answers a Received.
	Reply struct {
		Ref     any
		Answers []tasks.Answer
	}
	// Report brings a result to the scheduler, again and again until Acked.
	Report struct {
		ID      string
		Attempt tasks.Attempt
	}
	// Forget drops the result of an attempt: it was settled, or nobody wants it.
	Forget struct {
		ID      string
		Attempt tasks.Attempt
	}
)

func (Start) workerEffect()  {}
func (Halt) workerEffect()   {}
func (Reply) workerEffect()  {}
func (Report) workerEffect() {}
func (Forget) workerEffect() {}
