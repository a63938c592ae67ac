package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// retire says in the seal that the term has ended in peace: the process did not die of a task that it ran itself. Where
// this is not said, the next scheduler is careful with the tasks that it finds. Nothing waits for the answer longer than
// for other writes of the end.
//
// It is also a new seal: of our writes none that is still under way lands after it.
func (l *scheduler) retire() {
	if l.sealed == 0 || l.fenced != nil || !l.books.Ready() || !natsconn.Soon(l.nc.IsConnected, false) {
		return
	}
	op, err := sealing(record.Seal{
		Version: 1, Epoch: l.epoch, Holder: l.h.Instance(), Mark: l.mark, Clean: true, Since: l.first, Suspect: l.books.Suspected(),
	}, l.sealed)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	answered := make(chan struct{})
	l.writer.Submit(op, l.h.Config().OpTimeout, func(natskv.Result) { close(answered) })
	<-answered // the writer answers within the time that it was given
}

// announceLast announces the outcomes whose answers have come since the loop has ended: before that to the seal, which retire
// has waited for.
func (l *scheduler) announceLast() {
	for _, m := range l.in.Drain(nil) {
		switch m := m.(type) {
		case written:
			l.announcer.answered(m.w, m.result.Outcome == natskv.Won)
		case batchDone:
			for i := range m.list {
				l.announcer.answered(&m.list[i], m.result.Outcome == natskv.Won)
			}
		}
	}
	l.announcer.flush()
}
