package worker

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// confirmed says that the scheduler of an epoch has heard what this worker holds.
type confirmed struct{ epoch uint64 }

const (
	tellAfter   = 4   // times the AnswerTimeout, within which a scheduler asks and confirms the answer
	confirmMark = "=" // tells confirmations from the answers to reports
)

func (s *worker) instant() tasks.Instant { return tasks.Instant(time.Since(s.began)) }

// follow begins to wait for the question of a scheduler that takes over. One that has begun before
// this session asks nothing.
func (s *worker) follow() {
	if s.verifier.epoch > s.h.Session() {
		s.telling.Lead(s.instant())
	}
}

// confirmed is where the scheduler confirms what was answered at an epoch. Earlier versions do not.
func (s *worker) confirmed(epoch uint64) string {
	return s.outbox.inbox + confirmMark + strconv.FormatUint(epoch, 36)
}

// confirmation reads a confirmation. ok is false for another message, and for the server's notice
// that nobody listens.
func (o *outbox) confirmation(m *nats.Msg) (c confirmed, ok bool) {
	epoch, is := strings.CutPrefix(m.Subject, o.inbox+confirmMark)
	if !is {
		return c, false
	}
	c.epoch, _ = strconv.ParseUint(epoch, 36, 64) // 0 is nobody's
	_, err := frame.DecodeSettled(m.Data)
	return c, err == nil
}

func (s *worker) confirm(c confirmed) {
	if c.epoch == s.verifier.epoch {
		s.telling.Heard()
	}
}

// tells reports whether there may be something to tell: only what is offered here is asked about.
func (s *worker) tells() bool { return s.verifier.epoch > 0 && s.offered && s.handlers.any() }

// tell says in the member record what this worker holds, when the scheduler in view has not
// confirmed for long that it knows. The bucket is what a live session reaches, and the scheduler
// too. By the time of this, a frame of an earlier scheduler is refused.
func (s *worker) tell() {
	if !s.tells() || !s.telling.Tell(s.instant()) {
		return
	}
	held := s.synced(s.verifier.epoch, "")
	if err := s.h.Tell(s.cfg.Namespace, held); err != nil && s.h.Trusted() {
		s.h.Emit(event.Fault{Meta: s.meta(), Doing: "say in the member record what the worker holds", Err: err, Attempts: 1})
	}
}

// synced says to the scheduler of an epoch what this worker holds.
func (s *worker) synced(epoch uint64, key string) []byte {
	return frame.EncodeSynced(&frame.Holding{
		Session: s.h.Session(), Epoch: epoch, Held: s.machine.Holding(),
		Beside: s.machine.Beside(s.handlers.blockedTasks()), Key: key,
	})
}
