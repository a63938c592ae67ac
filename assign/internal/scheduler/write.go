package scheduler

import (
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// write is one write that the rules want.
type write struct {
	number, guard uint64
	op            natskv.Write
	also          *natskv.Write // stored in the same step, after op
	lean          *natskv.Write // replaces op if the server does not take op because of its size
	each          bool          // op and also have conditions of their own
	alone         bool          // it was sent alone by the rule of those that gather
	ticket        gather.Ticket // of that
	halved        uint8         // how often the batch that it was in was halved
}

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
