package scheduler

import (
	"errors"
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
	out     sender
	peers   peers
	partial map[uint64]*control.Assembly // answers of which parts are missing, by session
	refused map[uint64]refusedFrame      // what the server has said to the messages of a frame, by session
}

// refusedFrame is a frame of several messages: so many of them were delivered to nobody.
type refusedFrame struct{ frame, messages uint64 }

// arrivedAnswer is a worker's answer to a frame.
type arrivedAnswer struct{ m *nats.Msg }

func newAnswers(t *term, l loop, out sender, p peers) *answers {
	return &answers{
		refusals: refusals{t, l.emit}, step: l.step, out: out, peers: p, partial: map[uint64]*control.Assembly{},
		refused: map[uint64]refusedFrame{},
	}
}

// handle handles the answer of a worker, or of the server, to a frame.
func (a *answers) handle(m *nats.Msg) {
	session, number, messages, err := addressOf(strings.TrimPrefix(m.Subject, a.inbox))
	if err != nil {
		a.refuse("", record.Malformed)
		return
	}
	if natskv.IsNoResponders(m) {
		if a.nobodyHeard(session, number, messages) {
			a.step(tasks.NoResponder{Session: session, Frame: number})
		}
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
		from, _, list, key, err := frame.DecodeAnswers(message)
		if reason := misattributed(err, from == session); reason != "" {
			a.refuse(instance, reason)
			return
		}
		a.answered(session, number, key)
		if number == 0 {
			for _, x := range list {
				a.step(tasks.Stopped{Session: session, ID: x.ID, Attempt: x.Attempt})
			}
			return
		}
		a.step(tasks.Answered{Session: session, Frame: number, Answers: list})
	case frame.FrameSynced:
		x, err := frame.DecodeSynced(message)
		if reason := a.misdirected(err, x.Epoch, x.Session == session); reason != "" {
			a.refuse(instance, reason)
			return
		}
		a.answered(session, number, x.Key)
		a.step(tasks.Synced{Session: session, Held: x.Held, Beside: x.Beside})
		if m.Reply != "" { // else it says the same in its member record, as to one that it does not reach
			a.out.Send(m.Reply, "", frame.EncodeSettled(nil))
		}
	default:
		a.refuse(instance, record.Malformed)
	}
}

// answered takes the public key from an answer. The answer counts as before if the key cannot be
// the worker's: nothing proves who has sent it.
func (a *answers) answered(session, number uint64, key string) {
	if !a.proofs.Answered(session, number, key) {
		a.refuse(a.peers[session].instance, tasks.Forged.String())
	}
}

// told handles what a worker says in its member record that it holds: the answer to a question that
// it may never have heard. Its word to an earlier leader stays there until it says the next.
func (a *answers) told(session uint64, message []byte) {
	x, err := frame.DecodeSynced(message)
	if reason := misattributed(err, x.Session == session); reason != "" {
		a.refuse(a.peers[session].instance, reason)
		return
	}
	a.step(tasks.Told{Session: session, Epoch: x.Epoch, Held: x.Held, Beside: x.Beside})
}

// addressOf reads what follows the inbox in the subject of an answer, see dispatcher.send: session
// and frame, and of how many messages that is.
func addressOf(name string) (session, frame, messages uint64, err error) {
	first, rest, _ := strings.Cut(name, ".")
	second, third, several := strings.Cut(rest, ".")
	session, err1 := strconv.ParseUint(first, 36, 64)
	frame, err2 := strconv.ParseUint(second, 36, 64)
	var err3 error
	if messages = 1; several {
		messages, err3 = strconv.ParseUint(third, 36, 64)
	}
	return session, frame, messages, errors.Join(err1, err2, err3)
}

// nobodyHeard counts a message that the server has delivered to nobody. It reports whether that was
// so with each message of the frame.
func (a *answers) nobodyHeard(session, frame, messages uint64) bool {
	if messages == 1 {
		return true
	}
	r := a.refused[session]
	if r.frame != frame {
		r = refusedFrame{frame: frame}
	}
	r.messages++
	a.refused[session] = r
	return r.messages == messages
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

// forget drops what is kept of a session that is dead.
func (a *answers) forget(session uint64) {
	delete(a.partial, session)
	delete(a.refused, session)
}
