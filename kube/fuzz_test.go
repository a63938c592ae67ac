package kube

import (
	"encoding/json"
	"testing"
	"time"
)

// FuzzSlice: whatever an EndpointSlice says, a term writes over it only what is not newer in its
// bucket, and what it has written is its own when it is read again.
func FuzzSlice(f *testing.F) {
	f.Add([]byte(`{"metadata":{"labels":{"endpointslice.kubernetes.io/managed-by":"rolemanager"},"annotations":{` +
		`"rolemanager/role":"a","rolemanager/bucket-id":"b","rolemanager/epoch":"9","rolemanager/ttl-ms":"1000"}}}`))
	f.Add([]byte(`{"metadata":{"annotations":{"rolemanager/epoch":"-1"}},"endpoints":[null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var found slice
		if json.Unmarshal(text, &found) != nil {
			return
		}
		mine, was := claim{"a", "b", 8, time.Second}, claimOf(found)
		wait, err := mine.judge(found)
		if err == nil && (was.role != "a" || was.bucket == "b" && was.epoch > 8 || was.bucket != "b" && wait < time.Second) {
			t.Errorf("over %+v: wait %v", was, wait)
		}
		mine.on(&found)
		var again slice
		text, err = found.MarshalJSON()
		if err != nil || json.Unmarshal(text, &again) != nil || claimOf(again) != mine {
			t.Errorf("%+v is read as %+v: %s", mine, claimOf(again), text)
		}
	})
}

// FuzzStatus: whatever an API server says when it refuses, the error is one short line.
func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"kind":"Status","message":"endpointslices is forbidden"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		err := statusError("GET", "/", 403, text)
		if n := len(err.Error()); n > 1000 {
			t.Errorf("%d bytes", n)
		}
	})
}
