package scheduler

import (
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// write is one write that the rules want.
type write struct {
	number, guard uint64
	op            natskv.Write
	also          *natskv.Write  // stored in the same step, after op
	member        bundles.Member // of which op is the outcome, zero: of none
	lean          *natskv.Write  // replaces op if the server does not take op because of its size
	each          bool           // op and also have conditions of their own
	alone         bool           // it was sent alone by the rule of those that gather
	ticket        gather.Ticket  // of that
	halved        uint8          // how often the batch that it was in was halved
}

// solitary reports whether the write may go alone: it is one record, and nothing goes along with it.
func (w *write) solitary() bool { return w.also == nil && w.member == bundles.Member{} }

func (w *write) records() int {
	if w.also != nil {
		return 2
	}
	return 1
}

func (w *write) size() int {
	n := sizeOf(&w.op)
	if w.also != nil {
		n += sizeOf(w.also)
	}
	return n
}

func sizeOf(op *natskv.Write) int {
	n := len(op.Value)
	for _, v := range op.Header {
		n += len(v.Value)
	}
	return n
}
