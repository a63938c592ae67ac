package record

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// FuzzHeaders: whatever a submitter or a worker has put beside an input or an output is read
// without harm. Keys are within their limits, and a digest is one that a subject can hold; the
// handler sees the headers that who looks at the task sees; a traceparent is carried on as it was
// or not at all; a failure fits into a header; where an output is can be waited for.
func FuzzHeaders(f *testing.F) {
	digest := UniqueDigest("k", "key")
	for _, text := range []string{
		`{"unique":"` + digest + `","sticky":"a","limit":"b"}`, `{"unique":"` + digest[:12] + `\n` + digest[12:] + `"}`, `{"unique":"` + digest[:23] + `="}`, `{"unique":"x"}`,
		`{"sticky":"` + strings.Repeat(`\u0000`, MaxKey+1) + `"}`, `{"limit":"` + strings.Repeat("é", MaxKey/2) + `"}`, `{"a":"b","c":1}`, `{"a":"b"}`, `{"A":"\ud800"}`,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333101-",
		`{"error":"no","stack":"\u2028"}`, `{"name":"t.9.1","size":70000,"digest":"SHA-256=x"}`, `{"name":"t","size":-1}`, `{"name":"t","size":4611686018427387904}`, `{"size":1}`,
		`{"v":2}`, `{"v":1e3}`, "open.7", "ended.18446744073709551615", "ended.", "open.-1", `null`, `[]`, `{`, ``,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit := 1<<20 + 512*uint64(len(text))
		if took := heap.Took(limit, func() { readHeaders(t, text) }); took > limit {
			t.Errorf("%d bytes for %d", took, len(text))
		}
		if len(text)%16 == 0 { // this takes twenty times as long as all the rest
			limit += 16 * maxFailure
			if took := heap.Took(limit, func() { fitFailures(t, text); tellFailures(t, text) }); took > limit {
				t.Errorf("failure: %d bytes for %d", took, len(text))
			}
		}
	})
}

func readHeaders(t *testing.T, text string) {
	if headers := HeadersOf(text); headers != nil && !json.Valid([]byte(text)) {
		t.Errorf("headers %q: %v", text, headers)
	}

	k, err := ParseKeys(text)
	if err == nil && k != nil {
		sum, err := base64.RawURLEncoding.Strict().DecodeString(k.Unique)
		if k.Unique != "" &&
			(err != nil || base64.RawURLEncoding.EncodeToString(sum) != k.Unique || !naming.Valid(k.Unique)) ||
			len(k.Sticky) > MaxKey || len(k.Limit) > MaxKey || len(k.Fair) > MaxFair {
			t.Errorf("keys %q: %+v", text, k)
		}
		encoded, err := json.Marshal(Keys{k.Unique, k.Sticky, k.Limit, k.Fair})
		if again, err2 := ParseKeys(string(encoded)); err != nil || err2 != nil || *again != *k || len(encoded) > MaxKeys {
			t.Errorf("keys %q become %s: %v, %v", text, encoded, err, err2)
		}
	}

	if trace := UnpackTrace(PackTrace(text)); trace != "" && trace != text {
		t.Errorf("traceparent %q becomes %q", text, trace)
	}

	if o, err := DecodeObject([]byte(text)); err == nil &&
		(o.Name == "" || o.Patience() < ReadWithin || o.Patience() > time.Hour) {
		t.Errorf("object %q: %+v, to be read within %v", text, o, o.Patience())
	}
}

// tellFailures: a history stays within its bounds, whatever stands there, and tells of the last
// attempt.
func tellFailures(t *testing.T, text string) {
	data, err := json.Marshal(Failure{Error: text})
	if err != nil {
		t.Fatal(err)
	}
	history := text
	for n := range uint32(maxFailed + 2) {
		history = AddFailure(history, &tasks.Outcome{
			Attempt: tasks.Attempt{Epoch: 1, N: n + 1}, Cause: text[:min(len(text), 20)], Body: &frame.Finding{Data: data},
		}, time.Unix(1, 0))
	}
	all := Failures(history)
	if len(all) != maxFailed || len(history) > maxHistory || all[maxFailed-1].Attempt != maxFailed+2 {
		t.Errorf("%q becomes %d attempts in %d bytes", text, len(all), len(history))
	}
}

func fitFailures(t *testing.T, text string) {
	long, err := json.Marshal(Failure{Error: strings.Repeat(text, 1+maxFailure/(len(text)+1)), Stack: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{[]byte(text), long} {
		short := fitFailure(data)
		var f Failure
		if len(short) > maxFailure || len(data) <= maxFailure && short != string(data) ||
			len(data) > maxFailure && short != "" && json.Unmarshal([]byte(short), &f) != nil {
			t.Errorf("a failure of %d bytes becomes %.200q", len(data), short)
		}
	}
}
