package sealed

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// paper is a codec without a secret: what it seals shows what it is about.
type paper struct{ key string }

func (p paper) Seal(data, about []byte) (string, []byte, error) {
	return p.key, append(append(bytes.Clone(about), 0), data...), nil
}

func (p paper) Open(key string, sealed, about []byte) ([]byte, error) {
	if key != p.key {
		return nil, taskerr.ErrUnknownKey
	}
	data, is := bytes.CutPrefix(sealed, append(bytes.Clone(about), 0))
	if !is {
		return nil, errors.New("it is about something else")
	}
	return data, nil
}

func (p paper) Keys() []string { return []string{p.key} }

// TestSealedIsBound: to its namespace, its task and what it is of it.
func TestSealedIsBound(t *testing.T) {
	s := New("jobs", paper{"k"}, false)
	data, err := s.Seal(Input, "a", []byte("text"))
	if err != nil || KeyOf(data) != "k" || bytes.Equal(data, []byte("text")) {
		t.Fatalf("%q, %v", data, err)
	}
	if got, err := s.Open(Input, "a", data); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	opened := func(s *Sealer, part Part, task string, data []byte) error {
		_, err := s.Open(part, task, data)
		return err
	}
	for what, c := range map[string]struct{ got, want error }{
		"of another task":      {opened(s, Input, "b", data), taskerr.ErrTampered},
		"as an output":         {opened(s, Output, "a", data), taskerr.ErrTampered},
		"as a checkpoint":      {opened(s, Checkpoint, "a", data), taskerr.ErrTampered},
		"in another namespace": {opened(New("other", paper{"k"}, false), Input, "a", data), taskerr.ErrTampered},
		"with another key":     {opened(New("jobs", paper{"l"}, false), Input, "a", data), taskerr.ErrUnknownKey},
		"without a codec":      {opened(nil, Input, "a", data), taskerr.ErrUnknownKey},
		"plain":                {opened(s, Input, "a", []byte("text")), taskerr.ErrNotSealed},
		"plain, accepted":      {opened(New("jobs", paper{"k"}, true), Input, "a", []byte("text")), nil},
		"plain, no codec":      {opened(nil, Input, "a", []byte("text")), nil},
	} {
		if !errors.Is(c.got, c.want) || (c.got == nil) != (c.want == nil) {
			t.Errorf("%s: %v", what, c.got)
		}
		if c.got != nil && !errors.As(c.got, new(*taskerr.SealedError)) {
			t.Errorf("%s: %T", what, c.got)
		}
	}
	if none, err := (*Sealer)(nil).Seal(Input, "a", []byte("text")); string(none) != "text" || err != nil {
		t.Errorf("without a codec: %q, %v", none, err)
	}
	for _, key := range []string{"", string(make([]byte, maxKey+1))} {
		if _, err := New("jobs", paper{key}, false).Seal(Input, "a", nil); err == nil {
			t.Errorf("a key of %d bytes", len(key))
		}
	}
}

// TestTicksShareAnInput: the input of a recurrence is that of each of its tasks, and of no others.
func TestTicksShareAnInput(t *testing.T) {
	s := New("jobs", paper{"k"}, false)
	data, err := s.Seal(Input, RecurrenceOf("a/b"), []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string]bool{
		"cron/a/b/20260102T150405Z": true, "cron/a/b/20260103T150405Z": true, RecurrenceOf("a/b"): true,
		"cron/a/20260102T150405Z": false, "cron/a/b/c/20260102T150405Z": false, "a/b": false,
	} {
		if _, err := s.Open(Input, task, data); (err == nil) != want {
			t.Errorf("as the input of %s: %v", task, err)
		}
	}
	if _, err := s.Open(Output, "cron/a/b/20260102T150405Z", data); err == nil {
		t.Error("as an output")
	}
}

// FuzzSealed: bytes that nobody has sealed are refused, and those that somebody has are opened,
// both in memory in proportion.
func FuzzSealed(f *testing.F) {
	for _, text := range []string{"", mark, mark + "\x01", mark + "\x01k", mark + "\x40k", mark + "\x00", "text"} {
		f.Add([]byte(text))
	}
	s := New("jobs", paper{"k"}, false)
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		heap.Bounded(t, 4*len(data)+256, func() {
			if _, err := s.Open(Input, "a", data); err == nil && KeyOf(data) != "k" {
				t.Fatalf("%q is opened", data)
			}
			sealed, err := s.Seal(Output, "a", data)
			if err != nil {
				t.Fatal(err)
			}
			if again, err = s.Open(Output, "a", sealed); err != nil {
				t.Fatal(err)
			}
		})
		if !bytes.Equal(again, data) {
			t.Fatalf("%q comes back as %q", data, again)
		}
	})
}
