package tasks

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestBundlesAreReadByTheirDocumentation: each member is a submission of its own, at the revision
// of the bundle. An empty policy is that of the member before.
func TestBundlesAreReadByTheirDocumentation(t *testing.T) {
	var data []byte
	add := func(index uint64, parts ...string) {
		data = binary.AppendUvarint(data, index)
		for _, part := range parts {
			data = binary.AppendUvarint(data, uint64(len(part)))
			data = append(data, part...)
		}
	}
	add(9, `{"v":1,"kind":"one"}`, "", `{"n":"1"}`, "", "input")
	add(35, "", `{"unique":"u"}`, "", "", "")
	add(36, `{"v":1,"kind":"two"}`, "", "", "trace", "")
	h, at := nats.Header{"Task-Bundle": {`{"v":1}`}}, time.Unix(1, 0)
	got, err := bundled(7, at, "c.1.9", h, data)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	for id, want := range map[string]Record{
		"c.1.9":  {Revision: 7, Stored: at, Kind: "one"},
		"c.1.z":  {Revision: 7, Stored: at, Kind: "one", Unique: "u"},
		"c.1.10": {Revision: 7, Stored: at, Kind: "two"},
	} {
		if got[id] != want {
			t.Errorf("%s: %+v, want %+v", id, got[id], want)
		}
	}
	if got, err := bundled(8, at, "c.1.9", nil, nil); err != nil || len(got) != 0 {
		t.Errorf("a bundle that was removed: %v, %v", got, err)
	}
	for what, x := range map[string]struct {
		name string
		h    nats.Header
		data []byte
	}{
		"another name":    {"c.1.8", h, data},
		"a later version": {"c.1.9", nats.Header{"Task-Bundle": {`{"v":2}`}}, data},
		"no version":      {"c.1.9", nil, data},
		"cut off":         {"c.1.9", h, data[:len(data)-3]},
	} {
		if got, err := bundled(7, at, x.name, x.h, x.data); err == nil {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestSweepFindsWhatIsLeftOfBundles: planted faults.
func TestSweepFindsWhatIsLeftOfBundles(t *testing.T) {
	two := []string{"t", "u"}
	stand, beside, gone := bundleLast{1, false, two}, bundleLast{6, false, nil}, bundleLast{9, true, nil}
	open, ended := []Record{stands(0, "", "")}, []Record{stands(0, "", ""), stands(5, succeeded, "")}
	left := func(what string) []string { return []string{what} }
	type last = map[string]bundleLast
	for name, c := range map[string]struct {
		t, u    []Record
		bundles last
		want    []string
	}{
		"none has ended":                   {open, open, last{"b.t": stand}, nil},
		"one has ended":                    {ended, open, last{"b.t": stand, "e.t": beside}, nil},
		"all have ended":                   {ended, ended, last{"b.t": gone, "e.t": gone}, nil},
		"all have ended at once":           {ended, ended, last{"b.t": gone}, nil},
		"outcomes from before the bundle":  {ended, ended, last{"b.t": {7, false, two}}, nil},
		"a bundle is left":                 {ended, ended, last{"b.t": stand}, left("b.t stands, and all")},
		"a record is left":                 {ended, ended, last{"b.t": gone, "e.t": beside}, left("e.t stands without")},
		"a record stands beside no bundle": {open, open, last{"b.t": stand, "e.u": beside}, left("e.u stands without")},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, sweepBundles(map[string][]Record{"t": c.t, "u": c.u}, c.bundles), c.want)
		})
	}
}
