package scheduler

import (
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// answers handles the answers of workers to frames.
type answers struct {
	refusals
	step    func(tasks.Event)
	peers   peers
	partial map[uint64]*control.Assembly // answers of which parts are missing, by session
}

// arrivedAnswer is a worker's answer to a frame.
type arrivedAnswer struct{ m *nats.Msg }

func newAnswers(t *term, l loop, p peers) *answers {
	return &answers{refusals: refusals{t, l.emit}, step: l.step, peers: p, partial: map[uint64]*control.Assembly{}}
}

// handle handles the answer of a worker, or of the server, to a frame.
func (a *answers) handle(m *nats.Msg) {
	first, second, _ := strings.Cut(strings.TrimPrefix(m.Subject, a.inbox), ".")
	session, err1 := strconv.ParseUint(first, 36, 64)
	number, err2 := strconv.ParseUint(second, 36, 64)
	if err1 != nil || err2 != nil {
		a.refuse("", record.Malformed)
		return
	}
	if natskv.IsNoResponders(m) {
		a.step(tasks.NoResponder{Session: session, Frame: number})
		return
	}
	message := m.Data
	if control.IsPart(message) {
		if message = a.assemble(session, message); message == nil {
			return // the rest of it follows
		}
	}
	instance := a.peers[session].instance
	if len(message) < 2 {
		a.refuse(instance, record.Malformed)
		return
	}
	switch frame.FrameType(message[1]) {
	case frame.FrameAnswer:
		from, _, list, err := frame.DecodeAnswers(message)
		if reason := misattributed(err, from == session); reason != "" {
			a.refuse(instance, reason)
			return
		}
		if number == 0 {
			for _, x := range list {
				a.step(tasks.Stopped{Session: session, ID: x.ID, Attempt: x.Attempt})
			}
			return
		}
		a.step(tasks.Answered{Session: session, Frame: number, Answers: list})
	case frame.FrameSynced:
		from, epoch, held, err := frame.DecodeSynced(message)
		if reason := a.misdirected(err, epoch, from == session); reason != "" {
			a.refuse(instance, reason)
			return
		}
		a.step(tasks.Synced{Session: session, Held: held})
	default:
		a.refuse(instance, record.Malformed)
	}
}

// assemble adds a part of a worker's answer. It returns the answer when it is complete, else nil.
func (a *answers) assemble(session uint64, part []byte) []byte {
	if a.peers[session].instance == "" { // not a worker that was asked
		return nil
	}
	whole := a.partial[session]
	if whole == nil {
		whole = &control.Assembly{}
		a.partial[session] = whole
	}
	message := whole.Add(part)
	if message != nil {
		delete(a.partial, session)
	}
	return message
}

// forget drops the parts of a session that is dead.
func (a *answers) forget(session uint64) { delete(a.partial, session) }
