package assign

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/propertytests/fuzz/heap"
)

// FuzzHeaders: whatever a submitter or a worker has put beside an input or an output is read without harm. Keys are within their
// limits, and a digest is one that a subject can hold; the handler sees the headers that who looks at the task sees; a traceparent
// is carried on as it was or not at all; a failure fits into a header; where an output is can be waited for.
func FuzzHeaders(f *testing.F) {
	digest := uniqueDigest("k", "key")
	for _, text := range []string{
		`{"unique":"` + digest + `","sticky":"a","limit":"b"}`, `{"unique":"` + digest[:12] + `\n` + digest[12:] + `"}`, `{"unique":"` + digest[:23] + `="}`, `{"unique":"x"}`,
		`{"sticky":"` + strings.Repeat(`\u0000`, maxKey+1) + `"}`, `{"limit":"` + strings.Repeat("é", maxKey/2) + `"}`, `{"a":"b","c":1}`, `{"a":"b"}`, `{"A":"\ud800"}`,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333101-",
		`{"error":"no","stack":"\u2028"}`, `{"name":"t.9.1","size":70000,"digest":"SHA-256=x"}`, `{"name":"t","size":-1}`, `{"name":"t","size":4611686018427387904}`, `{"size":1}`,
		`{"v":2}`, `{"v":1e3}`, "open.7", "ended.18446744073709551615", "ended.", "open.-1", `null`, `[]`, `{`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit := 1<<20 + 512*uint64(len(text))
		if took := allocated(limit, func() { readHeaders(t, text) }); took > limit {
			t.Errorf("%d bytes for %d", took, len(text))
		}
		if len(text)%16 == 0 { // this takes twenty times as long as all the rest
			limit += 16 * maxFailure
			if took := allocated(limit, func() { fitFailures(t, text) }); took > limit {
				t.Errorf("failure: %d bytes for %d", took, len(text))
			}
		}
	})
}

func readHeaders(t *testing.T, text string) {
	k, err := parseKeys(text)
	if err == nil && k != nil {
		sum, err := base64.RawURLEncoding.Strict().DecodeString(k.Unique)
		if k.Unique != "" && (err != nil || base64.RawURLEncoding.EncodeToString(sum) != k.Unique || !protocol.ValidName(k.Unique)) ||
			len(k.Sticky) > maxKey || len(k.Limit) > maxKey {
			t.Errorf("keys %q: %+v", text, k)
		}
		encoded, err := json.Marshal(keysRecord{k.Unique, k.Sticky, k.Limit})
		if again, err2 := parseKeys(string(encoded)); err != nil || err2 != nil || *again != *k || len(encoded) > maxKeys {
			t.Errorf("keys %q become %s: %v, %v", text, encoded, err, err2)
		}
	}

	e := &natskv.Entry{Header: nats.Header{headerMeta: {text}, headerTrace: {text}}}
	st := TaskStatus{ID: "t"}
	if err := st.submitter(e); err == nil && !maps.Equal(headersOf(text), st.Headers) || err != nil && headersOf(text) != nil {
		t.Errorf("headers %q: %v, and who looks sees %v, %v", text, headersOf(text), st.Headers, err)
	}
	if x := payloadOf(e); x.trace != text || x.meta != text {
		t.Errorf("%q becomes %+v", text, x)
	}

	if trace := unpackTrace(packTrace(text)); trace != "" && trace != text {
		t.Errorf("traceparent %q becomes %q", text, trace)
	}

	if o, err := decodeObject([]byte(text)); err == nil && (o.Name == "" || o.patience() < readWithin || o.patience() > time.Hour) {
		t.Errorf("object %q: %+v, to be read within %v", text, o, o.patience())
	}

	c, err := parseCursor(text)
	if again, err2 := parseCursor(c.String()); err == nil && (err2 != nil || again != c) {
		t.Errorf("cursor %q: %v becomes %v, %v", text, c, again, err2)
	}

	_ = laterVersion([]byte(text))
}

func fitFailures(t *testing.T, text string) {
	long, err := json.Marshal(failureRecord{Error: strings.Repeat(text, 1+maxFailure/(len(text)+1)), Stack: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{[]byte(text), long} {
		short := fitFailure(data)
		var f failureRecord
		if len(short) > maxFailure || len(data) <= maxFailure && short != string(data) || len(data) > maxFailure && short != "" && json.Unmarshal([]byte(short), &f) != nil {
			t.Errorf("a failure of %d bytes becomes %.200q", len(data), short)
		}
	}
}

// FuzzAnswers: whatever is answered to a client that asks about tasks, reading it takes memory in proportion, its lists are no longer
// than a scheduler's, and what the client is then told can be told on.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		`{"ok":true,"task":{"id":"t","state":"running","worker":"w","attempts":1,"progress":0.123456}}`, `{"ok":true,"task":{"id":"t","progress":1e308}}`,
		`{"ok":true,"tasks":[{"id":"t","state":"pending","due":"2026-03-28T10:07:03Z","progress":-1e300}],"ending":[0,-1,7],"cursor":3}`,
		`{"ok":true,"overview":{"scheduler":"a","epoch":7,"kinds":[{"kind":"k"}],"workers":[{"instance":"w","slots":4}]}}`, `{"error":"no"}`, `{}`, `null`, ``,
		// A task is much larger than what may stand for it, and so are a kind and a worker; what is said again takes memory again.
		`{"ok":true,"tasks":` + repeated("0", 4000) + `}`, `{"ok":true,"tasks":` + repeated("{}", 4000) + `}`, `{"tasks":` + repeated(`{"id":"","state":""}`, 8000) + `}`,
		`{"ok":true,"overview":{"kinds":` + repeated("{}", 4000) + `}}`, `{"ok":true,"overview":{"workers":` + repeated("{}", 4000) + `}}`,
		"{" + strings.Repeat(`"task":{"headers":{"":""},"keys":{}},"task":null,`, 100) + strings.Repeat(`"tasks":[{}],"tasks":null,"overview":{"workers":[{"kinds":[""]}]},"overview":null,`, 100) + `"ok":true}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a answer
		var err error
		heap.Bounded(t, len(data), func() { a, err = readAnswer(data) })
		if err != nil {
			return
		}
		if o := a.Overview; len(a.Tasks) > maxPage || len(a.Ending) > maxPage || o != nil && (len(o.Kinds) > roomFor(data) || len(o.Workers) > roomFor(data)) {
			t.Fatalf("%.1000s is read as %.1000s", data, fmt.Sprintf("%+v", a))
		}
		if a.Task != nil {
			a.Tasks = append(a.Tasks, *a.Task)
		}
		for i := range a.Tasks {
			st := TaskStatus{ID: "t", Kind: "k"}
			if st.look(&a.Tasks[i]); !(st.Progress >= 0 && st.Progress <= 1) || st.ID != "t" || st.Kind != "k" {
				t.Fatalf("%s: %+v", data, st)
			}
			if _, err := json.Marshal(st); err != nil {
				t.Fatalf("%s: %+v: %v", data, st, err)
			}
		}
		if _, err := json.Marshal(a.Overview); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	})
}
