package record

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

var membersOfTest = []Member{
	{Index: 3, Task: `{"v":1,"kind":"k"}`, Data: []byte("input")},
	{Index: 4, Task: `{"v":1,"kind":"k"}`, Keys: `{"fair":"f"}`, Meta: `{"a":"b"}`, Trace: "t"},
	{Index: 40, Task: `{"v":1,"kind":"other"}`, Data: bytes.Repeat([]byte("x"), MaxMember)},
	{Index: bundles.Most - 1, Task: `{"v":1,"kind":"k"}`, Data: []byte{0}},
}

// nameOfTest is the name of a bundle that begins with so many as its first index.
func nameOfTest(first int) string { return bundles.ID("client.1", first) }

func asHeader(fields []natskv.Field) nats.Header {
	h := nats.Header{}
	for _, f := range fields {
		h.Set(f.Name, f.Value)
	}
	return h
}

// TestBundle: its members are read as they were written, within the size that each claims, and each
// is found by its index, and nothing else is.
func TestBundle(t *testing.T) {
	fields, data := EncodeBundle(membersOfTest)
	size := 0
	for i := range membersOfTest {
		size += membersOfTest[i].Size()
	}
	if len(data) > size {
		t.Errorf("%d bytes, and the members claim %d", len(data), size)
	}
	got, err := DecodeBundle(nameOfTest(3), asHeader(fields), data)
	if err != nil || !sameMembers(got, membersOfTest) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range bundles.Most {
		place, ok := MemberOf(got, i)
		if want := i == 3 || i == 4 || i == 40 || i == bundles.Most-1; ok != want || ok && int(got[place].Index) != i {
			t.Errorf("%d is at %d: %v", i, place, ok)
		}
	}
	e := got[1].Alone(nameOfTest(4), &natskv.Entry{Revision: 7})
	if e.Key != QueueKey+nameOfTest(4) || e.Revision != 7 || !reflect.DeepEqual(e.Header, nats.Header{
		HeaderTask: {`{"v":1,"kind":"k"}`}, HeaderKeys: {`{"fair":"f"}`}, HeaderMeta: {`{"a":"b"}`}, HeaderTrace: {"t"},
	}) {
		t.Errorf("%+v", e)
	}
}

// TestBundlesThatAreNone: what is not a bundle of that name is refused.
func TestBundlesThatAreNone(t *testing.T) {
	fields, data := EncodeBundle(membersOfTest)
	good := asHeader(fields)
	_, twice := EncodeBundle([]Member{{Index: 3}, {Index: 3}})
	_, back := EncodeBundle([]Member{{Index: 3}, {Index: 4}, {Index: 3}})
	_, beyond := EncodeBundle([]Member{{Index: 3}, {Index: bundles.Most}})
	for what, x := range map[string]struct {
		name   string
		header nats.Header
		data   []byte
	}{
		"of another first one": {nameOfTest(4), good, data},
		"of no name":           {"x", good, data},
		"no header":            {nameOfTest(3), nil, data},
		"a later version":      {nameOfTest(3), nats.Header{HeaderBundle: {`{"v":2}`}}, data},
		"empty":                {nameOfTest(3), good, nil},
		"cut off":              {nameOfTest(3), good, data[:len(data)-1]},
		"one of them twice":    {nameOfTest(3), good, twice},
		"in another order":     {nameOfTest(3), good, back},
		"beyond the block":     {nameOfTest(3), good, beyond},
	} {
		if got, err := DecodeBundle(x.name, x.header, x.data); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func sameMembers(a, b []Member) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		same := bytes.Equal(x.Data, y.Data)
		if x.Data, y.Data = nil, nil; !same || !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// FuzzBundle: any data are read as a bundle without harm, and what can be read can be written again
// as it was read. Its members are in order and of one block.
func FuzzBundle(f *testing.F) {
	_, data := EncodeBundle(membersOfTest[:2])
	f.Add(3, data)
	f.Add(3, data[:len(data)-1])
	f.Add(0, []byte{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0})
	f.Add(0, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(0, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add(1, []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'})
	f.Fuzz(func(t *testing.T, first int, data []byte) {
		heap.Bounded(t, len(data), func() {
			name := nameOfTest(first)
			header := nats.Header{HeaderBundle: {`{"v":1}`}}
			list, err := DecodeBundle(name, header, data)
			if err != nil {
				return
			}
			for i := range list {
				block, index, ok := bundles.Split(bundles.ID("client.1", int(list[i].Index)))
				if !ok || block != "client.1" || i == 0 && index != first || i > 0 && list[i].Index <= list[i-1].Index {
					t.Errorf("member %d of %s has index %d", i, name, list[i].Index)
				}
			}
			_, text := EncodeBundle(list)
			if again, err := DecodeBundle(name, header, text); err != nil || !sameMembers(again, list) {
				t.Errorf("%x becomes %x, %v", data, text, err)
			}
		})
	})
}

// FuzzEnded: any record of those that have ended is read without harm, and can be written again as
// it was read.
func FuzzEnded(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"of":7,"ended":"EiM="}`, `{"v":1,"of":7,"ended":""}`, `{"v":1,"of":0,"ended":"AA=="}`, `{"v":2,"of":1}`,
		`{"v":1,"of":1}`, `{}`, ``, `null`, `{"v":1,"of":1,"ended":"` + strings.Repeat("////", 50) + `"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		heap.Bounded(t, len(text), func() {
			e, err := DecodeEnded(text)
			if err != nil {
				return
			}
			if n := e.Places.Len(); n > 8*len(e.Places) || e.Places.Has(8*len(e.Places)) || e.Of == 0 {
				t.Errorf("%q: %d have ended of %d: %+v", text, n, 8*len(e.Places), e)
			}
			data, err := EncodeEnded(e)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := DecodeEnded(data); err != nil || again.Of != e.Of || !bytes.Equal(again.Places, e.Places) {
				t.Errorf("%q becomes %q, %v", text, data, err)
			}
		})
	})
}
