package scheduler

import (
	"crypto/rand"
	"errors"
	"slices"
	"strconv"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// dispatcher sends frames to the workers.
type dispatcher struct {
	*term
	put      func(message any)
	out      sender
	payloads *payloads
	waiting  map[uint64]*assignFrame // frames that wait for payloads, by session
	bundles  *bundleReads
}

// newProver proves the frames of a term, with a key pair of its own.
func newProver(h Host) *frame.Prover {
	return frame.NewProver(frame.NewKeyPair(rand.Read), h.Signer().Sign)
}

func newDispatcher(t *term, put func(any), out sender, p *payloads, b *bundleReads) *dispatcher {
	return &dispatcher{term: t, put: put, out: out, payloads: p, waiting: map[uint64]*assignFrame{}, bundles: b}
}

// push sends a frame, after its payloads are read. A worker has one frame at a time, so a later one
// replaces it.
func (d *dispatcher) push(p tasks.Assign) {
	f := &assignFrame{push: p, list: make([]frame.Task, len(p.List))}
	former := d.waiting[p.Session]
	delete(d.waiting, p.Session)
	for i := range p.List {
		t := &f.list[i]
		t.Assignment = p.List[i]
		if t.Checkpoint > 0 {
			d.miss(f, former, t.Checkpoint, i)
		}
		x, ok := d.payloads.take(t.ID, t.Revision)
		if !ok && former != nil {
			x, ok = former.loaded(t.ID, t.Revision)
		}
		if !ok {
			var e natskv.Entry
			e, ok = d.bundles.find(t.ID, t.Revision)
			x = payloadOf(&e)
		}
		if !ok {
			d.miss(f, former, t.Revision, i)
			continue
		}
		t.Payload, t.Trace, t.Header = x.Data, x.Trace, x.Meta
	}
	if len(f.missing) > 0 {
		d.waiting[p.Session] = f
		return
	}
	d.send(f)
}

// miss has a record read, unless the frame, or the former one, waits for it already.
func (d *dispatcher) miss(f, former *assignFrame, revision uint64, i int) {
	if f.missing == nil {
		f.missing = map[uint64][]int{}
	}
	t, asked := &f.list[i], f.waits(revision) || former != nil && former.waits(revision)
	f.missing[revision] = append(f.missing[revision], i)
	switch {
	case asked:
	case revision == t.Revision && d.rules.InBundle(t.ID, revision):
		d.bundles.fetch(revision)
	default:
		d.payloads.fetchInput(revision)
	}
}

// fetched handles a record that was read for a frame. A record that is gone was replaced, or
// belongs to a task that has ended: the rules are about to learn that, and until then the frame
// goes without that task. After any other fault the frame is dropped until it is pushed again.
func (d *dispatcher) fetched(x fetched, found *submissions) {
	for session, f := range d.waiting {
		if !f.waits(x.revision) {
			continue
		}
		gone := errors.Is(x.err, natskv.ErrRecordNotFound)
		if x.err != nil && !gone {
			delete(d.waiting, session)
			continue
		}
		for _, i := range slices.Backward(f.missing[x.revision]) {
			if gone || !f.take(i, found) {
				d.unsent(&f.push, &f.list[i])
				f.leaveOut(i)
			}
		}
		delete(f.missing, x.revision)
		if len(f.missing) == 0 {
			delete(d.waiting, session)
			d.send(f)
		}
	}
}

// readAlong handles a portion of records: some of them may be wanted already.
func (d *dispatcher) readAlong(r readAlong) {
	kept := r.entries[:0]
	for i := range r.entries {
		e := r.entries[i]
		if d.awaits(e.Revision) {
			d.fetched(fetched{want{revision: e.Revision}, e, nil}, &submissions{entry: &e})
		} else {
			kept = append(kept, e)
		}
	}
	awaited := len(r.entries) - len(kept)
	r.entries = kept
	d.payloads.found(r, awaited)
}

func (d *dispatcher) awaits(revision uint64) bool {
	for _, f := range d.waiting {
		if f.waits(revision) {
			return true
		}
	}
	return false
}

// unsent tells the rules, in the loop's next turn, that an assignment of a frame is not sent.
func (d *dispatcher) unsent(p *tasks.Assign, t *frame.Task) {
	d.put(tasks.Answered{
		Session: p.Session, Frame: p.Frame,
		Answers: []tasks.Answer{{ID: t.ID, Attempt: t.Attempt, Verdict: tasks.Unsent}},
	})
}

// send sends a frame in as many messages as its size needs.
func (d *dispatcher) send(f *assignFrame) {
	p := &f.push
	v := d.envelope(p.Epoch, p.Term, p.Instance, p.Session, p.Frame)
	most := d.out.MaxPayload()
	var messages [][]byte
	room := min(frameSize, most-record.Headroom)
	for from := 0; from < len(f.list); {
		to := f.fits(from, room)
		message := frame.EncodeAssign(&v, p.Low, f.list[from:to])
		if len(message)+frame.ProofSize <= most {
			messages = append(messages, message)
		} else { // submitted where messages may be larger
			d.out.Refresh()
			for i := range f.list[from:to] {
				d.unsent(p, &f.list[from+i])
			}
		}
		from = to
	}
	subject, reply := d.work.Assign(p.Instance), d.replyTo(p.Session, p.Frame)
	if n := len(messages); n > 1 { // it takes as many refusals to know that nobody has heard the frame
		reply += "." + strconv.FormatInt(int64(n), 36)
	}
	for _, message := range messages {
		if d.lead.Valid() {
			d.deliver(&v, subject, reply, message)
		}
	}
}

// deliver sends a message of a frame: in memory to the worker of our own session if it is there,
// else proven, over the connection.
func (d *dispatcher) deliver(v *frame.Envelope, subject, reply string, message []byte) {
	if v.Instance == d.host.Instance() && v.Session == d.host.Session() &&
		d.out.Hand(subject, reply, frame.Seal(message, frame.Unproven)) {
		return
	}
	d.out.Send(subject, reply, d.proofs.Seal(v, message))
}

func (d *dispatcher) envelope(epoch, term uint64, instance string, session, number uint64) frame.Envelope {
	v := frame.Envelope{
		Namespace: d.cfg.Namespace, Role: d.cfg.Role, Epoch: epoch, Term: term, Instance: instance, Session: session,
		Number: number,
	}
	d.proofs.Address(&v)
	return v
}

func (d *dispatcher) replyTo(session, frame uint64) string {
	return d.inbox + strconv.FormatUint(session, 36) + "." + strconv.FormatUint(frame, 36)
}

// sync asks a worker which tasks it holds.
func (d *dispatcher) sync(e tasks.Sync) {
	v := d.envelope(e.Epoch, d.rules.Term(), e.Instance, e.Session, 0)
	d.deliver(&v, d.work.Sync(e.Instance), d.replyTo(e.Session, 0), frame.EncodeSync(&v))
}

// stop asks a worker to end an attempt.
func (d *dispatcher) stop(e tasks.Stop) {
	v := d.envelope(e.Epoch, e.Term, e.Instance, e.Session, 0)
	message := frame.EncodeStop(&v, workers.StopOrder{ID: e.ID, Attempt: e.Attempt, Serial: e.Serial, Status: e.Status})
	d.deliver(&v, d.work.Cancel(e.Instance), d.replyTo(e.Session, 0), message)
}

// forget drops what is kept of a session that is dead.
func (d *dispatcher) forget(session uint64) {
	delete(d.waiting, session)
	d.proofs.Forget(session)
}
