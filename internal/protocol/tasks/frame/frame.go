package frame

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// Envelope is what every frame of a scheduler says about itself, under its signature: from which
// term it is, and for whom.
type Envelope struct {
	Namespace string
	Role      string
	Epoch     uint64
	Term      uint64 // the first epoch of the term; Epoch moves on when it is rotated
	Instance  string
	Session   uint64
	Number    uint64
	// Key is the scheduler's public key if the frame is signed, and "" if it is proven by a shared
	// key, see Prover. It is the last field of the frame, and so DecodeEnvelope does not read it.
	Key string
}

// ProofSize is how many bytes Seal appends, whatever proves the frame.
const ProofSize = 64

// Seal appends a proof, such as a signature, to a frame that an Encode function returned.
func Seal(frame []byte, prove func([]byte) []byte) []byte { return append(frame, prove(frame)...) }

// Unproven stands for the signature of a frame that does not leave the process. It verifies with no
// key.
func Unproven([]byte) []byte { return unproven[:] }

var unproven [ProofSize]byte

// Open splits a frame into what was proven and the proof.
func Open(sealed []byte) (frame, proof []byte, err error) {
	if len(sealed) < ProofSize+2 {
		return nil, nil, ErrFrame
	}
	at := len(sealed) - ProofSize
	return sealed[:at:at], sealed[at:], nil
}

func (e *encoder) envelope(v *Envelope) {
	e.text(v.Namespace)
	e.text(v.Role)
	e.number(v.Epoch)
	e.number(v.Term)
	e.text(v.Instance)
	e.number(v.Session)
	e.number(v.Number)
}

func (d *decoder) envelope() (v Envelope) {
	v.Namespace, v.Role, v.Epoch, v.Term = d.text(), d.text(), d.number(), d.number()
	v.Instance, v.Session, v.Number = d.text(), d.number(), d.number()
	return v
}

// Task is an assignment with what its handler needs.
type Task struct {
	tasks.Assignment
	Trace   string // traceparent of W3C, "" for none
	Header  string // of the submitter's, encoded; "" for none
	Payload []byte
	Saved   []byte // the checkpoint, nil for none
}

// EncodeAssign makes the frame of an Assign.
func EncodeAssign(v *Envelope, low uint64, list []Task) []byte {
	room := 0
	for i := range list {
		room += 96 + len(list[i].ID) + len(list[i].Policy.Kind) + len(list[i].Trace) + len(list[i].Header) +
			len(list[i].Payload) + len(list[i].Saved)
	}
	e := newEncoder(FrameAssign, room+128+KeySize+ProofSize)
	e.envelope(v)
	e.number(low)
	e.number(uint64(len(list)))
	for i := range list {
		t := &list[i]
		e.text(t.ID)
		e.text(t.Policy.Kind)
		e.number(t.Revision)
		e.attempt(t.Attempt)
		e.number(t.Serial)
		e.number(uint64(t.Try))
		e.signed(int64(t.Left / time.Millisecond))
		e.signed(int64(t.Policy.Timeout / time.Millisecond))
		e.signed(int64(t.Policy.Retention / time.Millisecond))
		e.number(uint64(t.Policy.Weight) | alone(t.Alone))
		e.text(t.Trace)
		e.text(t.Header)
		e.bytes(t.Payload)
		e.bytes(t.Saved)
	}
	e.text(v.Key)
	return e.b
}

// DecodeAssign reads an assign frame. The payloads are parts of it.
func DecodeAssign(frame []byte) (v Envelope, low uint64, list []Task, err error) {
	d, err := newDecoder(frame, FrameAssign)
	if err != nil {
		return v, 0, nil, err
	}
	v, low = d.envelope(), d.number()
	type alike struct { // what of a policy travels
		kind               string
		timeout, retention time.Duration
		weight             int
	}
	policies := map[alike]*tasks.Policy{}
	list = make([]Task, d.list(14))
	for i := range list {
		t := &list[i]
		t.ID = d.text()
		p := alike{kind: d.text()}
		t.Revision = d.number()
		t.Attempt, t.Serial, t.Try = d.attempt(), d.number(), int(d.number()&(1<<31-1))
		t.Left = milliseconds(d.signed())
		p.timeout, p.retention, p.weight = milliseconds(d.signed()), milliseconds(d.signed()), 0
		weight := d.number()
		p.weight, t.Alone = int(weight&(flagAlone-1)), weight&flagAlone != 0
		if policies[p] == nil {
			policies[p] = &tasks.Policy{Kind: p.kind, Timeout: p.timeout, Retention: p.retention, Weight: max(p.weight, 1)}
		}
		t.Policy = policies[p]
		t.Trace, t.Header, t.Payload, t.Saved = d.text(), d.text(), d.bytes(), d.bytes()
	}
	v.Key = d.added()
	return v, low, list, d.err()
}

// flagAlone stands above the weight of a task, where an earlier version reads nothing.
const flagAlone = 1 << 16

func alone(is bool) uint64 {
	if is {
		return flagAlone
	}
	return 0
}

// milliseconds is a duration that cannot overflow.
func milliseconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(max(n, -most), most)) * time.Millisecond
}

// EncodeStop makes the frame of a Stop, as its worker is told it. The term is the envelope's.
func EncodeStop(v *Envelope, t workers.StopOrder) []byte {
	e := newEncoder(FrameStop, 160+len(t.ID)+KeySize+ProofSize)
	e.envelope(v)
	e.text(t.ID)
	e.attempt(t.Attempt)
	e.number(t.Serial)
	e.text(string(t.Status))
	e.text(v.Key)
	return e.b
}

// DecodeStop reads a stop frame.
func DecodeStop(frame []byte) (v Envelope, t workers.StopOrder, err error) {
	d, err := newDecoder(frame, FrameStop)
	if err != nil {
		return v, t, err
	}
	v = d.envelope()
	t = workers.StopOrder{
		Term: v.Term, ID: d.text(), Attempt: d.attempt(), Serial: d.number(),
		Status: tasks.Status(d.text()),
	}
	v.Key = d.added()
	return v, t, d.err()
}

// EncodeSync makes the frame of a Sync.
func EncodeSync(v *Envelope) []byte {
	e := newEncoder(FrameSync, 160+KeySize+ProofSize)
	e.envelope(v)
	e.text(v.Key)
	return e.b
}

// DecodeSync reads a sync frame.
func DecodeSync(frame []byte) (v Envelope, err error) {
	d, err := newDecoder(frame, FrameSync)
	if err != nil {
		return v, err
	}
	v = d.envelope()
	v.Key = d.added()
	return v, d.err()
}

// DecodeEnvelope reads what a frame of any type says about itself.
func DecodeEnvelope(frame []byte) (v Envelope, t FrameType, err error) {
	if len(frame) < 2 {
		return v, 0, ErrFrame
	}
	t = FrameType(frame[1])
	d, err := newDecoder(frame, t)
	if err != nil {
		return v, t, err
	}
	v = d.envelope()
	return v, t, d.err()
}
