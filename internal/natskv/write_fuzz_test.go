package natskv

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// mayAllocate is how much memory reading an input of n bytes may take: a multiple of n, and the
// error of the measurement.
func mayAllocate(n int) uint64 { return 256<<10 + 128*uint64(n) }

// FuzzAcknowledgement: any message comes as the answer to a write. The hand-written reader reads
// the same as the JSON decoder. The write was won only if the server names our stream, our domain
// and a revision, and refused only if the server reports that the condition did not hold.
func FuzzAcknowledgement(f *testing.F) {
	for _, text := range []string{
		`{"stream":"S","seq":7}`, `{"stream":"KV_b","seq":18446744073709551615}`, `{"stream":"S","seq":007}`, `{"stream":"S","seq":0}`,
		`{"stream":"S","seq":+7}`, `{"stream":"S","seq":7_0}`, `{"stream":"S","seq":7 }`, `{"stream":"S","seq":18446744073709551616}`,
		`{"stream":"S","seq":7,"duplicate":true}`, `{"stream":"S","domain":"d","seq":7}`, `{"stream":"S","seq":7,"batch":"b","count":3}`, `{"error":{"err_code":10176},"stream":"S"}`, `{"stream":"Sx","seq":7}`,
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"},"stream":"S","seq":0}`, `{"error":{"err_code":10164},"stream":"S","seq":9}`,
		`{"stream":"KV_b","domain":"d","seq":7}`, `{"stream":"KV_b","domain":"dd","seq":7}`, `{"stream":"KV_b","domain":"d","seq":0}`,
		`{"error":{"err_code":10059}}`, `{"error":{"err_code":10039,"description":"off"}}`, `{"error":null,"stream":"S","seq":1}`, `{}`, `null`, `[]`, ``, `+OK`,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, bucket bool) {
		if !bucket {
			at := place{stream: "S", prefix: "s."}
			readsAcknowledgement(t, at, data)
			at.domain = "d"
			readsAcknowledgement(t, at, data)
			return
		}
		at := bucketPlace("b", Reach{})
		readsAcknowledgement(t, at, data)
		at.domain = "d"
		readsAcknowledgement(t, at, data)
	})
}

func readsAcknowledgement(t *testing.T, at place, data []byte) {
	var byHand uint64
	var plain bool
	var r, three Result
	if most := mayAllocate(len(data)); heap.Took(most, func() {
		byHand, plain = plainAck(at, data)
		r = outcome(at, data)
		three = batchOutcome(at, data, 3)
	}) > most {
		t.Errorf("more than %d bytes for %d", most, len(data))
	}
	var ack pubAck
	err := json.Unmarshal(data, &ack)
	if plain && (err != nil || ack.Error != nil || ack.Stream != at.stream || ack.Domain != at.domain ||
		ack.Seq != byHand || byHand == 0) {
		t.Fatalf("%q is read as revision %d, and by the decoder as %+v, %v", data, byHand, ack, err)
	}
	won := err == nil && ack.Error == nil && ack.Stream == at.stream && ack.Seq > 0 && ack.Domain == at.domain
	refused := err == nil && ack.Error != nil && ack.Error.ErrorCode == codeWrongLastRevision
	if (r.Outcome == Won) != won || (r.Outcome == Refused) != refused || (r.Err == nil) != won ||
		won && r.Revision != ack.Seq || !won && r.Revision != 0 {
		t.Fatalf("%q: %+v", data, r)
	}
	if wonThree := won && ack.Count == 3; (three.Outcome == Won) != wonThree || (three.Outcome == Refused) != refused ||
		refused && !three.NoneStored || won && three.NoneStored || (three.Err == nil) != wonThree {
		t.Fatalf("%q, of a batch: %+v", data, three)
	}
	if refused != errors.Is(r.Err, ErrRefused) || refused && Permanent(r.Err) {
		t.Fatalf("%q: %v", data, r.Err)
	}
	foreign := r.Err != nil && (strings.HasPrefix(r.Err.Error(), "not an ack") || errors.Is(r.Err, ErrOtherBucket))
	if foreign && len(r.Err.Error()) > 1000 {
		t.Fatalf("%q: %v", data, r.Err)
	}
}
