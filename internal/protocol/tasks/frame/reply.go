package frame

import (
	"math"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// EncodeAnswers makes a worker's answer to an assign or a stop frame. The key is what
// Believer.Believed has returned.
func EncodeAnswers(session, number uint64, answers []tasks.Answer, key string) []byte {
	e := newEncoder(FrameAnswer, 32+KeySize+40*len(answers))
	e.number(session)
	e.number(number)
	e.number(uint64(len(answers)))
	for i := range answers {
		a := &answers[i]
		e.text(a.ID)
		e.attempt(a.Attempt)
		e.number(uint64(a.Verdict))
	}
	e.text(key)
	return e.b
}

// DecodeAnswers reads it.
func DecodeAnswers(frame []byte) (session, number uint64, answers []tasks.Answer, key string, err error) {
	d, err := newDecoder(frame, FrameAnswer)
	if err != nil {
		return 0, 0, nil, "", err
	}
	session, number = d.number(), d.number()
	answers = make([]tasks.Answer, d.list(4))
	for i := range answers {
		answers[i] = tasks.Answer{ID: d.text(), Attempt: d.attempt(), Verdict: tasks.Verdict(d.number() & 0xff)}
	}
	key = d.added()
	return session, number, answers, key, d.err()
}

// Holding is a worker's answer to a sync frame of an epoch: all that it holds.
type Holding struct {
	Session, Epoch uint64
	Held           []tasks.Held
	Beside         int    // handlers that run beside those, see workers.Worker.Beside
	Key            string // what Believer.Believed has returned
}

// EncodeSynced makes the frame of a Holding.
func EncodeSynced(h *Holding) []byte {
	e := newEncoder(FrameSynced, 40+KeySize+40*len(h.Held))
	e.number(h.Session)
	e.number(h.Epoch)
	e.number(uint64(len(h.Held)))
	for _, h := range h.Held {
		e.text(h.ID)
		e.attempt(h.Attempt)
		e.number(h.Revision)
	}
	e.text(h.Key)
	e.number(uint64(h.Beside))
	return e.b
}

// maxHeld bounds what one worker may say that it holds: as many attempts as it may run, and as many
// results as it keeps, 4096 each.
const maxHeld = 8192

// DecodeSynced reads it.
func DecodeSynced(frame []byte) (h Holding, err error) {
	d, err := newDecoder(frame, FrameSynced)
	if err != nil {
		return h, err
	}
	h.Session, h.Epoch = d.number(), d.number()
	n := d.number()
	if n > min(maxHeld, uint64(len(d.b))/4) {
		return Holding{}, ErrFrame
	}
	h.Held = make([]tasks.Held, n)
	for i := range h.Held {
		h.Held[i] = tasks.Held{ID: d.text(), Attempt: d.attempt(), Revision: d.number()}
	}
	h.Key = d.added()
	if len(d.b) > 0 { // an earlier version does not write it
		h.Beside = int(d.number() & (1<<31 - 1))
	}
	return h, d.err()
}

// Finding is one entry of a worker's report: how an attempt ended, or how far it is.
type Finding struct {
	ID       string
	Attempt  tasks.Attempt
	Verb     tasks.Verb
	Delay    int64   // ns
	Ran      int64   // ns
	Fraction float32 // of 1, of one that is Progressing
	// Stored says that Data names an object that holds the output.
	Stored bool
	// Data is the output, the error's record, or the checkpoint; nil for no checkpoint.
	Data []byte
}

const (
	flagStored      = 1 << iota
	flagData        // tells an empty checkpoint from none
	flagUndecodable // tells it from another failure; earlier schedulers take it for one
)

func (f *Finding) flags() (n uint64) {
	if f.Stored {
		n |= flagStored
	}
	if f.Data != nil {
		n |= flagData
	}
	if f.Verb == tasks.Undecodable {
		n |= flagUndecodable
	}
	return n
}

// verb is how an earlier version understands what has become of an attempt.
func (f *Finding) verb() tasks.Verb {
	if f.Verb == tasks.Undecodable {
		return tasks.Failed
	}
	return f.Verb
}

// EncodeReport makes a worker's report to the scheduler of an epoch. Nobody else answers it: one
// that was deposed knows nothing of later attempts, and must not call them stale.
func EncodeReport(instance string, session, epoch uint64, list []Finding) []byte {
	room := 64
	for i := range list {
		room += 64 + len(list[i].ID) + len(list[i].Data)
	}
	e := newEncoder(FrameReport, room)
	e.text(instance)
	e.number(session)
	e.number(epoch)
	e.number(uint64(len(list)))
	for i := range list {
		f := &list[i]
		e.text(f.ID)
		e.attempt(f.Attempt)
		e.number(uint64(f.verb()))
		e.signed(f.Delay)
		e.signed(f.Ran)
		e.number(uint64(math.Float32bits(f.Fraction)))
		e.number(f.flags())
		e.bytes(f.Data)
	}
	return e.b
}

// DecodeReport reads it. The data are parts of the frame.
func DecodeReport(frame []byte) (instance string, session, epoch uint64, list []Finding, err error) {
	d, err := newDecoder(frame, FrameReport)
	if err != nil {
		return "", 0, 0, nil, err
	}
	instance, session, epoch = d.text(), d.number(), d.number()
	list = make([]Finding, d.list(9))
	for i := range list {
		f := &list[i]
		f.ID, f.Attempt, f.Verb = d.text(), d.attempt(), tasks.Verb(d.number()&0xff)
		f.Delay, f.Ran, f.Fraction = d.signed(), d.signed(), math.Float32frombits(uint32(d.number()))
		flags := d.number()
		f.Stored = flags&flagStored != 0
		if f.Data = d.bytes(); flags&flagData == 0 {
			f.Data = nil
		}
		if flags&flagUndecodable != 0 && f.Verb == tasks.Failed {
			f.Verb = tasks.Undecodable
		} else if f.Verb == tasks.Undecodable {
			d.bad = true
		}
		if f.Verb < tasks.Succeeded || f.Verb > tasks.Undecodable || !(f.Fraction >= 0 && f.Fraction <= 1) {
			d.bad = true
		}
	}
	return instance, session, epoch, list, d.err()
}

// EncodeSettled makes a scheduler's answer to a report: of each entry, whether it led to anything.
func EncodeSettled(stale []bool) []byte {
	e := newEncoder(FrameSettled, 16+len(stale))
	e.number(uint64(len(stale)))
	for _, s := range stale {
		if s {
			e.b = append(e.b, 1)
		} else {
			e.b = append(e.b, 0)
		}
	}
	return e.b
}

// DecodeSettled reads it.
func DecodeSettled(frame []byte) (stale []bool, err error) {
	d, err := newDecoder(frame, FrameSettled)
	if err != nil {
		return nil, err
	}
	stale = make([]bool, d.list(1))
	for i := range stale {
		stale[i] = d.number() != 0
	}
	return stale, d.err()
}
