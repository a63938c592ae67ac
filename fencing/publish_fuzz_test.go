package fencing

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAcknowledgement: for any answer to a write, the write counts as stored only if the answer
// names our stream, a revision and no error. It counts as refused only if the answer says that a
// condition did not hold. It counts as not stored only for the codes that mean that, and for our
// own faults. For every other answer the outcome stays unknown.
func FuzzAcknowledgement(f *testing.F) {
	for _, text := range []string{
		`{"stream":"KV_b","seq":7}`, `{"stream":"KV_b","seq":18446744073709551615}`, `{"stream":"KV_b","seq":18446744073709551616}`, `{"stream":"KV_b","seq":0}`,
		`{"stream":"KV_b","seq":7,"duplicate":true}`, `{"stream":"KV_b","domain":"d","seq":7,"batch":"b","count":2}`, `{"stream":"KV_bb","seq":7}`, `{"STREAM":"KV_b","Seq":7}`,
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"},"stream":"KV_b","seq":0}`, `{"error":{"code":400,"err_code":10164},"stream":"KV_b","seq":9}`,
		`{"error":{"code":400,"err_code":10176}}`, `{"error":{"code":429,"err_code":10211}}`, `{"error":{"code":503,"err_code":10077}}`, `{"error":{"code":503,"err_code":10023}}`,
		`{"error":{"code":404,"err_code":10059}}`, `{"error":{"code":503,"err_code":10008}}`, `{"error":{"code":-400}}`, `{"error":{}}`, `{"error":null,"stream":"KV_b","seq":1}`,
		`{"error":{"err_code":65536}}`, `{}`, `null`, `[]`, ``, `+OK`,
	} {
		f.Add([]byte(text))
	}
	const stream = "KV_b"
	notStored := []jetstream.ErrorCode{codeConflict, codeIncompleteBatch, codeTooManyBatches, codeTooManyInFlight}
	f.Fuzz(func(t *testing.T, data []byte) {
		var revision uint64
		var v verdict
		var err error
		most := 256<<10 + 128*uint64(len(data))
		if heap.Took(most, func() { revision, v, err = acknowledged(stream, data) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(data))
		}
		var a pubAck
		unread := json.Unmarshal(data, &a)
		isStored := unread == nil && a.Error == nil && a.Stream == stream && a.Seq > 0
		if (v == stored) != isStored || (err == nil) != isStored || (revision != 0) != isStored ||
			isStored && revision != a.Seq {
			t.Fatalf("%q: verdict %d, revision %d, %v", data, v, revision, err)
		}
		said := unread == nil && a.Error != nil
		if refuses := said && a.Error.ErrorCode == codeWrongLastSequence; (v == refused) != refuses {
			t.Fatalf("%q: verdict %d, %v", data, v, err)
		}
		ours := said && (a.Error.Code >= 400 && a.Error.Code < 500 || slices.Contains(notStored, a.Error.ErrorCode))
		if (v == unheard || v == hopeless) && !ours {
			t.Fatalf("%q is taken for not stored: verdict %d, %v", data, v, err)
		}
		switch {
		case err == nil:
		case said && !errors.As(err, new(*jetstream.APIError)):
			t.Fatalf("%q: what the server says is lost: %v", data, err)
		case unread == nil && !said && !strings.Contains(err.Error(), stream):
			t.Fatalf("%q: the error does not say what was awaited: %v", data, err)
		case unread == nil && !said && len(err.Error()) > 1000:
			t.Fatalf("an error of %d bytes: %v", len(err.Error()), err)
		}
	})
}
