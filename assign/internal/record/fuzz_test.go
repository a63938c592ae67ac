package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAnnouncement: any announcement is read without harm, and one that can be read is announced as
// it was read.
func FuzzAnnouncement(f *testing.F) {
	for _, text := range []string{
		"{\"v\":1,\"kind\":\"k\",\"status\":\"succeeded\",\"attempts\":1}\n\n\n\noutput",
		"{\"v\":1,\"status\":\"dead\"}\n{\"error\":\"no\"}\ntrace\n1\n",
		"", "\n\n\n\n", "{}\n\n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var o *Outcome
		var err error
		if most := 256<<10 + 64*uint64(len(b)); heap.Took(most, func() { o, err = DecodeAnnouncement(b) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(b))
		}
		if err != nil {
			return
		}
		header := []natskv.Field{
			{Name: HeaderOutcome, Value: string(o.append(nil))},
			{Name: HeaderFailure, Value: o.failure},
			{Name: HeaderTrace, Value: o.trace},
		}
		if o.Object {
			header = append(header, natskv.Field{Name: headerObject, Value: "1"})
		}
		again, err := DecodeAnnouncement(EncodeAnnouncement(&natskv.Write{Header: header, Value: o.Data}))
		if err != nil || again.Fields != o.Fields || again.failure != oneLine.Replace(o.failure) ||
			again.trace != oneLine.Replace(o.trace) ||
			again.Object != o.Object || !bytes.Equal(again.Data, o.Data) {
			t.Errorf("%q is read as %+v, and announced as %+v: %v", b, o, again, err)
		}
	})
}

// FuzzBulletin: any bytes are read as a bulletin without harm, up to where they are not one, and
// the part that was read was written so.
func FuzzBulletin(f *testing.F) {
	f.Add([]byte{})
	f.Add(Enter(Enter(nil, "a", []byte("x")), "b.c", nil))
	f.Add(Enter(nil, "", nil))
	f.Add([]byte("\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		read := 0
		if most := 64<<10 + 16*uint64(len(b)); heap.Took(most, func() {
			read = 0 // what takes more than it may is measured again
			for task, announcement := range Entries(b) {
				read += len(task) + len(announcement)
			}
		}) > most {
			t.Errorf("more than %d bytes for %d", most, len(b))
		}
		if read > len(b) {
			t.Fatalf("%d bytes read out of %d", read, len(b))
		}
		for task, announcement := range Entries(b) {
			again = Enter(again, task, announcement)
			if who := Audience(task); !strings.HasPrefix(task, who) {
				t.Errorf("%q is announced to %q", task, who)
			}
		}
		if len(again) > len(b) { // a length may be written in more bytes than it needs
			t.Errorf("%x is read as %x", b, again)
		}
	})
}

// FuzzTaskRecords: whatever stands in the stream, and whatever is asked, reading it takes memory in
// proportion, and what is accepted is within the limits that the rules count on.
func FuzzTaskRecords(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`,
		`{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":1,"labels":{"a":"b"},"rate":1e-300,"weight":4096,"priority":-100}`,
		`{"v":1,"kind":"k","status":"succeeded","attempts":1}`, `{"v":1,"kind":"k","status":"dead","cause":"permanent","attempts":10000}`,
		`{"v":1,"epoch":9,"attempt":1,"wait_ms":1099511627776}`, `{"v":1,"epoch":9,"holder":"a","mark":"m","clean":true}`,
		`{"v":1,"by":"x","reason":"y"}`, `{"op":"list","filter":{"states":["pending"],"prefix":"a"},"cursor":1,"limit":-1}`,
		`{"v":1,"declared":{"version":2,"by":"p","policy":{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":1,"rate":2}}}`,
		`{"v":1,"override":{"until":"2026-03-29T02:30:00Z","concurrency":1,"rate":0.5,"key_limit":2,"reason":"r"}}`,
		`{"v":1,"declared":{"version":2,"policy":{"v":1,"kind":"k","attempts":5,"backoff_ms":1,"max_backoff_ms":1,"retention_s":1,"fair_shares":{"a":3}}},"override":{"fair_shares":{}}}`,
		`{"v":1,"task":"t"}`, `{"v":1,"tick":"2026-03-29T02:30:00+01:00"}`, `{`, `null`, `[]`, `0`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		limit := 512<<10 + 128*uint64(len(b))
		read := func(what string, do func()) {
			if took := heap.Took(limit, do); took > limit {
				t.Errorf("%s: %d bytes for %d", what, took, len(b))
			}
		}
		read("submission", func() {
			p, err := ParsePolicy(string(b))
			if err == nil && !withinLimits(&p) {
				t.Errorf("submission %s: %+v", b, p)
			}
		})
		read("outcome", func() {
			o, err := DecodeOutcome(nats.Header{HeaderOutcome: {string(b)}, HeaderFailure: {string(b)}}, b)
			if err == nil && o != nil {
				_, _ = o.Why()
				header := o.append(nil)
				again, err := DecodeOutcome(nats.Header{HeaderOutcome: {string(header)}}, nil)
				if err != nil || again.Status != o.Status || again.Epoch != o.Epoch || again.Attempts != o.Attempts {
					t.Errorf("outcome %s becomes %s: %v", b, header, err)
				}
			}
		})
		read("limits", func() {
			k, err := DecodeKindLimits(b)
			if err != nil {
				return
			}
			if text, err := k.Encode(); err != nil {
				t.Errorf("limits %s: %v", b, err)
			} else if again, err := DecodeKindLimits(text); err != nil {
				t.Errorf("limits %s become %s, %v", b, text, err)
			} else if rewritten, err := again.Encode(); err != nil || !bytes.Equal(rewritten, text) {
				t.Errorf("limits %s become %s, and then %s, %v", b, text, rewritten, err)
			}
		})
		read("note", func() {
			r, err := DecodeNote(b)
			if err != nil {
				return
			}
			if r.Wait < 0 || r.Failures < 0 || r.Crashes < 0 || r.Snoozes < 0 || r.Ran < 0 || r.Blame < 0 {
				t.Errorf("note %s: %+v", b, r)
			}
			if text, err := EncodeNote(r); err != nil {
				t.Errorf("note %+v: %v", r, err)
			} else if again, err := DecodeNote(text); err != nil || again != r {
				t.Errorf("note %+v becomes %+v, %v", r, again, err)
			}
		})
		read("seal", func() {
			if s, err := DecodeSeal(b); err == nil && s.Epoch == 0 {
				t.Errorf("seal %s: %+v", b, s)
			}
		})
		read("the rest", func() {
			_ = LaterVersion(b)
			if status, _ := EndedAs(&natskv.Entry{Header: nats.Header{HeaderOutcome: {string(b)}}}); status != "" &&
				!json.Valid(b) {
				t.Errorf("outcome %q is read as %v", b, status)
			}
			_, _ = DecodeSteer(b)
			if u, err := DecodeUnique(b); err == nil && u.Task == "" {
				t.Errorf("unique %s: %+v", b, u)
			}
			if tick, err := DecodeTick(b); err == nil && tick.Tick.IsZero() {
				t.Errorf("tick %s: %v", b, tick)
			}
		})
	})
}
