package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// retire notes in the seal that the term has ended in peace: the process did not die of a task that
// it ran itself. Without that note, the next scheduler is careful with the tasks that it finds. The
// wait for the answer is bounded by the operation timeout.
//
// It also makes a new seal, after which none of our writes that are still under way is stored.
func (s *scheduler) retire() {
	if s.applier.sealed == 0 || s.failure != nil || !s.rules.Ready() || !natsconn.Soon(s.conn.IsConnected, false) {
		return
	}
	op, err := sealWrite(record.Seal{
		Version: 1, Epoch: s.epoch, Holder: s.host.Instance(), Mark: s.mark, Clean: true, Since: s.first,
		Doubted: s.rules.Doubted(),
	}, s.applier.sealed)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	answered := make(chan struct{})
	s.writer.Submit(op, s.host.Config().OpTimeout, func(natskv.Result) { close(answered) })
	<-answered // the writer answers within the time that it was given
}

// announceLast announces the outcomes whose writes were acknowledged after the loop had ended. The
// acknowledgement of the seal, for which retire has waited, comes after them.
func (s *scheduler) announceLast() {
	for _, m := range s.in.Drain(nil) {
		switch m := m.(type) {
		case singleDone:
			s.announcer.answered(m.w, m.result.Outcome == natskv.Won)
		case batchDone:
			for i := range m.list {
				s.announcer.answered(&m.list[i], m.result.Outcome == natskv.Won)
			}
		}
	}
	s.announcer.flush()
}
