package stream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzUnfit: whatever the server says about the stream, its faults are told in words, and one that
// is as it should be has none.
func FuzzUnfit(f *testing.F) {
	good, err := json.Marshal(jetstream.StreamInfo{Config: made()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		`{"config":{"metadata":{"` + metaFormat + `":"2"}}}`, `{"config":{"metadata":{"` + metaFormat + `":"-1"},"subjects":["a","a"],"max_age":-1,"republish":{"dest":"work.done.x"}}}`, `{"config":{"sources":[null]}}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	faults := unfit(Options{Namespace: "work"})
	f.Fuzz(func(t *testing.T, data []byte) {
		var info jetstream.StreamInfo
		var err error
		var found, ofObjects []string
		heap.Bounded(t, 2*len(data), func() {
			info = jetstream.StreamInfo{}
			if err = json.Unmarshal(data, &info); err == nil {
				found, ofObjects = faults(&info), objectFaults(Options{Namespace: "work"}, &info)
			}
		})
		if err != nil {
			return
		}
		if slices.Contains(found, "") || slices.Contains(ofObjects, "") || bytes.Equal(data, good) && len(found) > 0 {
			t.Fatalf("%q: %q", data, found)
		}
		if n, wrong := strconv.Atoi(info.Config.Metadata[metaFormat]); len(found) == 0 && (wrong != nil || n < 0) &&
			info.Config.Metadata[metaFormat] != "" {
			t.Fatalf("%q is fit", data)
		}
	})
}
