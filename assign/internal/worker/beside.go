package worker

import (
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// maxUnread bounds the frames in memory that wait for the loop, in bytes, as the connection bounds
// those of a subscription. Frames beyond it go over the connection.
const maxUnread = 64 << 20

// join lets the scheduler of the same session find this worker. It subscribes before: a worker that
// may not listen offers nothing, although a scheduler beside it could reach it.
func (s *worker) join() (leave func()) {
	return s.out.Join(shortcut.End{
		Inbox:  s.outbox.inbox,
		Answer: s.hear(s.outbox.readAnswer),
		Request: func(m *nats.Msg) bool {
			f := arrivedFrame{m, true}
			if s.unread.Add(f.held()) > maxUnread {
				s.unread.Add(-f.held())
				return false
			}
			s.in.Put(f)
			return true
		},
	})
}

// held is how many bytes of room a frame takes up until the loop handles it.
func (f arrivedFrame) held() int64 {
	if f.inMemory {
		return int64(len(f.m.Data))
	}
	return 0
}

// report sends a report to the scheduler in view. That may be the one of our own session. Then an
// empty report goes over the connection, once for each epoch, and is not answered: so a permission
// that is missing is noticed before another process leads.
func (s *worker) report(reply string, report []byte) {
	subject := s.sub.Report(s.h.Instance())
	if !s.verifier.leads() || !s.out.Hand(subject, reply, report) {
		s.out.Send(subject, reply, report)
		return
	}
	if epoch := s.verifier.epoch; s.tried != epoch {
		s.tried = epoch
		s.out.Send(subject, "", frame.EncodeReport(s.h.Instance(), s.h.Session(), epoch, nil))
	}
}
