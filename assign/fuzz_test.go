package assign

import (
	"bytes"
	"encoding/json"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// allocated is how many bytes do takes from the heap, roughly. Whatever else runs is counted too, so a figure above most is
// measured again.
func allocated(most uint64, do func()) (took uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for range 10 {
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		do()
		metrics.Read(sample)
		if took = sample[0].Value.Uint64() - before; took <= most {
			break
		}
	}
	return took
}

// sealed is a gate of a worker's session, and frames of every type that its scheduler has signed for it.
func sealed(tb testing.TB) (*gate, [][]byte) {
	tb.Helper()
	signer, err := fencing.NewSigner()
	if err != nil {
		tb.Fatal(err)
	}
	stranger, err := fencing.NewSigner()
	if err != nil {
		tb.Fatal(err)
	}
	g := &gate{namespace: "work", role: "scheduler", instance: "w.1", session: 1 << 50, open: true, own: stranger}
	g.see(election.RoleInfo{Leader: "a", Epoch: 1<<50 + 7, Revision: 1<<50 + 7, PublicKey: signer.PublicKey()})
	v := tasks.Envelope{Namespace: "work", Role: "scheduler", Epoch: 1<<50 + 7, Term: 1<<50 + 5, Instance: "w.1", Session: 1 << 50, Number: 6}
	policy := &tasks.Policy{Kind: "checksum.v1", Timeout: time.Minute, Retention: time.Hour, Weight: 1}
	list := []tasks.Task{{
		Assignment: tasks.Assignment{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Try: 2, Policy: policy}, Payload: []byte("in"),
	}}
	frames := [][]byte{tasks.EncodeAssign(&v, 2, list), tasks.EncodeStop(&v, tasks.Told{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Status: tasks.StatusExpired}), tasks.EncodeSync(&v)}
	for i := range frames {
		frames[i] = tasks.Seal(frames[i], signer.Sign)
	}
	return g, frames
}

const gateMost = 1 << 20

// TestGateRefusesDamagedFrames: of every type of frame, with each bit turned over, cut off at each place and with something
// added, none is accepted; nor is a frame with the signature of another.
func TestGateRefusesDamagedFrames(t *testing.T) {
	g, frames := sealed(t)
	tried := 0
	refuse := func(what string, b []byte) {
		t.Helper()
		if tried++; func() bool { _, _, verdict := g.check(&nats.Msg{Data: b}, gateMost); return verdict == tasks.Accepted }() {
			t.Errorf("%s: accepted: %x", what, b)
		}
	}
	for i, whole := range frames {
		if _, _, verdict := g.check(&nats.Msg{Data: whole}, gateMost); verdict != tasks.Accepted {
			t.Fatalf("frame %d as it was signed: %v", i, verdict)
		}
		for bit := range 8 * len(whole) {
			damaged := bytes.Clone(whole)
			damaged[bit/8] ^= 1 << (bit % 8)
			refuse("a bit", damaged)
		}
		for n := range whole {
			refuse("the beginning", whole[:n])
			if n > 0 {
				refuse("the end", whole[n:])
			}
		}
		for _, more := range []byte{0, 1, 0xff} {
			refuse("something more at the end", append(bytes.Clone(whole), more))
			refuse("something more at the beginning", append([]byte{more}, whole...))
		}
		other := frames[(i+1)%len(frames)]
		refuse("another's signature", append(bytes.Clone(whole[:len(whole)-64]), other[len(other)-64:]...))
	}
	t.Logf("%d damaged frames, none accepted", tried)
}

// FuzzGate: nothing is accepted but what was signed, to the byte.
func FuzzGate(f *testing.F) {
	g, frames := sealed(f)
	for _, frame := range frames {
		f.Add(frame)
		f.Add(frame[:len(frame)-1])
		f.Add(append(bytes.Clone(frame), frame...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		verdict := tasks.Accepted
		if most := 256<<10 + 64*uint64(len(b)); allocated(most, func() { _, _, verdict = g.check(&nats.Msg{Data: b}, gateMost) }) > most {
			t.Errorf("more than %d bytes for a frame of %d", most, len(b))
		}
		genuine := false
		for _, frame := range frames {
			genuine = genuine || bytes.Equal(b, frame)
		}
		if (verdict == tasks.Accepted) != genuine {
			t.Fatalf("%x: %v", b, verdict)
		}
	})
}

// FuzzAnnouncement: what is announced is read without harm, and what can be read is announced as it was read.
func FuzzAnnouncement(f *testing.F) {
	for _, text := range []string{
		"{\"v\":1,\"kind\":\"k\",\"status\":\"succeeded\",\"attempts\":1}\n\n\n\noutput", "{\"v\":1,\"status\":\"dead\"}\n{\"error\":\"no\"}\ntrace\n1\n",
		"", "\n\n\n\n", "{}\n\n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var o *outcome
		var err error
		if most := 256<<10 + 64*uint64(len(b)); allocated(most, func() { o, err = decodeAnnouncement(b) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(b))
		}
		if err != nil {
			return
		}
		header := []natskv.Field{{Name: headerOutcome, Value: string(o.append(nil))}, {Name: headerFailure, Value: o.failure}, {Name: headerTrace, Value: o.trace}}
		if o.object {
			header = append(header, natskv.Field{Name: headerObject, Value: "1"})
		}
		again, err := decodeAnnouncement(encodeAnnouncement(&natskv.Write{Header: header, Value: o.data}))
		if err != nil || again.outcomeRecord != o.outcomeRecord || again.failure != oneLine.Replace(o.failure) || again.trace != oneLine.Replace(o.trace) ||
			again.object != o.object || !bytes.Equal(again.data, o.data) {
			t.Errorf("%q is read as %+v, and announced as %+v: %v", b, o, again, err)
		}
	})
}

// FuzzBulletin: whatever comes as a bulletin is read without harm, up to where it is none, and what is read was written so.
func FuzzBulletin(f *testing.F) {
	f.Add([]byte{})
	f.Add(enter(enter(nil, "a", []byte("x")), "b.c", nil))
	f.Add(enter(nil, "", nil))
	f.Add([]byte("\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		read := 0
		if most := 64<<10 + 16*uint64(len(b)); allocated(most, func() {
			read = 0 // what takes more than it may is measured again
			for task, announcement := range entries(b) {
				read += len(task) + len(announcement)
			}
		}) > most {
			t.Errorf("more than %d bytes for %d", most, len(b))
		}
		if read > len(b) {
			t.Fatalf("%d bytes read out of %d", read, len(b))
		}
		for task, announcement := range entries(b) {
			again = enter(again, task, announcement)
			if who := audience(task); !strings.HasPrefix(task, who) {
				t.Errorf("%q is announced to %q", task, who)
			}
		}
		if len(again) > len(b) { // a length may be written in more bytes than it needs
			t.Errorf("%x is read as %x", b, again)
		}
	})
}

// FuzzTaskRecords: whatever stands in the stream, and whatever is asked, reading it takes memory in proportion, and what is
// accepted is within the limits that the rules count on.
func FuzzTaskRecords(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`,
		`{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":1,"labels":{"a":"b"},"rate":1e-300,"weight":4096,"priority":-100}`,
		`{"v":1,"kind":"k","status":"succeeded","attempts":1}`, `{"v":1,"kind":"k","status":"dead","cause":"permanent","attempts":10000}`,
		`{"v":1,"epoch":9,"attempt":1,"wait_ms":1099511627776}`, `{"v":1,"epoch":9,"holder":"a","mark":"m","clean":true}`,
		`{"v":1,"by":"x","reason":"y"}`, `{"op":"list","filter":{"states":["pending"],"prefix":"a"},"cursor":1,"limit":-1}`,
		`{"v":1,"task":"t"}`, `{"v":1,"tick":"2026-03-29T02:30:00+01:00"}`, `{`, `null`, `[]`, `0`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		limit := 512<<10 + 128*uint64(len(b))
		read := func(what string, do func()) {
			if took := allocated(limit, do); took > limit {
				t.Errorf("%s: %d bytes for %d", what, took, len(b))
			}
		}
		read("submission", func() {
			p, err := parsePolicy(string(b))
			if err == nil && !withinLimits(&p) {
				t.Errorf("submission %s: %+v", b, p)
			}
		})
		read("outcome", func() {
			o, err := decodeOutcome(nats.Header{headerOutcome: {string(b)}, headerFailure: {string(b)}}, b)
			if err == nil && o != nil {
				_ = o.err("x")
				header := o.append(nil)
				again, err := decodeOutcome(nats.Header{headerOutcome: {string(header)}}, nil)
				if err != nil || again.Status != o.Status || again.Epoch != o.Epoch || again.Attempts != o.Attempts {
					t.Errorf("outcome %s becomes %s: %v", b, header, err)
				}
			}
		})
		read("note", func() {
			r, err := decodeNote(b)
			if err != nil {
				return
			}
			if r.Wait < 0 || r.Failures < 0 || r.Crashes < 0 || r.Snoozes < 0 {
				t.Errorf("note %s: %+v", b, r)
			}
			if text, err := encodeNote(r); err != nil {
				t.Errorf("note %+v: %v", r, err)
			} else if again, err := decodeNote(text); err != nil || again != r {
				t.Errorf("note %+v becomes %+v, %v", r, again, err)
			}
		})
		read("seal", func() {
			if s, err := decodeSeal(b); err == nil && s.Epoch == 0 {
				t.Errorf("seal %s: %+v", b, s)
			}
		})
		read("the rest", func() {
			_, _ = decodeSteer(b)
			if u, err := decodeUnique(b); err == nil && u.Task == "" {
				t.Errorf("unique %s: %+v", b, u)
			}
			if tick, err := decodeTick(b); err == nil && tick.IsZero() {
				t.Errorf("tick %s: %v", b, tick)
			}
			var q query
			if len(b) <= maxQuery {
				_ = json.Unmarshal(b, &q)
			}
		})
	})
}
