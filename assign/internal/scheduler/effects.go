package scheduler

import (
	"fmt"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// effects carries out the effects of the rules: each one has a part that does it.
type effects struct {
	*term
	fence      func(error) // ends the term, whatever else has gone wrong
	writes     *writeQueue
	drafts     *drafts
	dispatcher *dispatcher
	members    *members
	reports    *reports
	queries    *queries
	gauges     *gauges
	reader     *reader
	keeper     *keeper
	notices    *notices
}

// execute never waits for an effect.
func (x *effects) execute(effect tasks.Effect) {
	switch e := effect.(type) {
	case tasks.WriteSeal:
		x.writes.seal(e)
	case tasks.Reread:
		x.reader.reread()
	case tasks.WriteOutcome:
		x.drafts.outcome(e)
	case tasks.WriteNote:
		x.drafts.note(e)
	case tasks.WriteCheckpoint:
		x.gauges.progress.Checkpoints++
		x.writes.checkpoint(e)
	case tasks.KeepOutcome:
		x.keeper.keep(e)
	case tasks.ReleaseOutcome:
		x.keeper.release(e)
	case tasks.WriteTally:
		x.writes.tally(e)
	case tasks.WriteTick:
		x.writes.tick(e)
	case tasks.WritePass:
		x.writes.pass(e)
	case tasks.Erase:
		if e.What == tasks.NoteRecord {
			x.drafts.drop(e.ID)
		}
		x.writes.erase(e)
	case tasks.FreeUnique:
		x.writes.free(e)
	case tasks.Assign:
		x.dispatcher.push(e)
	case tasks.Sync:
		x.dispatcher.sync(e)
	case tasks.Stop:
		x.dispatcher.stop(e)
	case tasks.Unanswered:
		x.members.unanswered(e)
	case tasks.Settle:
		x.reports.settle(e)
	case tasks.Fenced:
		x.fence(&fencedError{by: e.By, epoch: x.epoch})
	case tasks.Broken:
		x.fence(fmt.Errorf("%w: %s", taskerr.ErrInconsistent, e.What))
	case tasks.Exhausted:
		x.fence(taskerr.ErrAttemptsExhausted)
	case tasks.TaskChanged:
		x.queries.moved(&e)
	default:
		x.notices.notice(effect)
	}
}
