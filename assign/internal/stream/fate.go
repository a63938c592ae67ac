package stream

import (
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// FateOf says what became of a batch, for the rule by which writes gather.
func FateOf(r *natskv.Result) gather.Fate {
	v := Judge(r.Err)
	switch {
	case r.Outcome == natskv.Won:
		return gather.Stored
	case r.Outcome == natskv.Refused, v == Never:
		return gather.Refused
	case r.NoneStored, v != Uncertain:
		return gather.NotTaken
	}
	return gather.Silent
}
