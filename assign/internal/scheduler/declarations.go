package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// declarations stores what workers declare about their kinds: a worker may not write to the stream.
// Clients write the same records, so each is written over the revision that the stream has shown. A
// worker repeats a declaration that is not answered.
type declarations struct {
	refusals
	loop
	out    sender
	peers  peers
	writer *natskv.Writer
	stored map[string]limitsRecord // by kind
}

// limitsRecord is the record of a kind's limits, as the stream has shown it.
type limitsRecord struct {
	limits   record.KindLimits
	revision uint64
	fault    error // why it cannot be read: it stays
}

// declared is the outcome of a declaration's write.
type declared struct {
	reply  string
	result natskv.Result
}

func newDeclarations(t *term, l loop, out sender, p peers, w *natskv.Writer) *declarations {
	return &declarations{
		refusals: refusals{t, l.emit}, loop: l, out: out, peers: p, writer: w, stored: map[string]limitsRecord{},
	}
}

// shown takes the record of a kind's limits, which may be gone or unreadable.
func (d *declarations) shown(kind string, r limitsRecord) { d.stored[kind] = r }

// handle stores a declaration that replaces the stored one. A worker is not refused that we do not
// know so far: it repeats the declaration. Nothing is answered before the stream was read up to our
// seal.
func (d *declarations) handle(m *nats.Msg) {
	q, ok := control.ReadQuery(m.Data)
	if !ok || q.Op != control.OpDeclare || q.From == nil || m.Reply == "" {
		d.refuse("", record.Malformed)
		return
	}
	worker, known := d.peers[q.From.Session]
	if !known || !d.rules.Settled() {
		return
	}
	own := worker.instance == q.From.Instance && m.Subject == d.work.Report(worker.instance)
	if reason := d.misdirected(nil, q.From.Epoch, own); reason != "" {
		d.refuse(q.From.Instance, reason)
		return
	}
	said, err := record.DecodeKindLimits(q.Record)
	if err != nil || said.Declared == nil || said.Declared.Policy.Kind != q.ID {
		d.refuse(q.From.Instance, record.Malformed)
		return
	}
	before := d.stored[q.ID]
	if before.fault != nil {
		d.answer(m.Reply, before.fault)
		return
	}
	k := before.limits
	k.Version = 1
	taken, err := k.Take(said.Declared)
	if err != nil || !taken {
		d.answer(m.Reply, err)
		return
	}
	value, err := k.Encode()
	if err != nil {
		d.answer(m.Reply, err)
		return
	}
	reply := m.Reply
	d.writer.Submit(natskv.Write{Key: record.LimitsKey + q.ID, Value: value, Expect: before.revision}, writeWithin,
		func(r natskv.Result) { d.put(declared{reply, r}) })
}

// written answers a declaration that is stored. One that is refused is repeated after the stream
// has shown the record that was there before.
func (d *declarations) written(w declared) {
	switch {
	case w.result.Outcome == natskv.Won:
		d.answer(w.reply, nil)
	case w.result.Outcome == natskv.Unknown && stream.Judge(w.result.Err) == stream.Denied:
		d.answer(w.reply, fmt.Errorf("the scheduler %s may not store it: %w", d.host.Instance(), w.result.Err))
	}
}

func (d *declarations) answer(to string, err error) {
	a := control.Answer{OK: err == nil}
	if err != nil {
		a.Error, a.Differs = err.Error(), errors.Is(err, taskerr.ErrLimitsDiffer)
	}
	if data, err := json.Marshal(a); err == nil {
		d.out.Send(to, "", data)
	}
}
