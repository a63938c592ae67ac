package assign_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// inner is embedded under a name that is not exported. Its exported fields are encoded all the
// same.
type inner struct{ File string }

type outer struct {
	inner
	*hidden
	N     int
	Aside string `json:"-"`
	aside string
}

type hidden struct{ Name string }

// spelled is written by MarshalText.
type spelled struct{ by []byte }

func (s spelled) MarshalText() ([]byte, error) { return s.by, nil }
func (s *spelled) UnmarshalText(b []byte) error {
	s.by = b
	return nil
}

// pointed is so by a method of its pointer.
type pointed struct{ by []byte }

func (p *pointed) MarshalText() ([]byte, error) { return p.by, nil }
func (p *pointed) UnmarshalText(b []byte) error {
	p.by = b
	return nil
}

// TestTextInEveryPlace: what is not UTF-8 is found wherever the encoder finds it, and not where it
// does not look.
func TestTextInEveryPlace(t *testing.T) {
	const bad, said = "caf\xe9", `"\ufffd"`
	raw := json.RawMessage(said) // so that the encoding has what the encoder writes for bad
	type beside[T any] struct {
		Raw json.RawMessage
		V   T
	}
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		for i, v := range []any{
			outer{inner: inner{bad}},
			outer{hidden: &hidden{bad}},
			spelled{[]byte(bad)},
			&spelled{[]byte(bad)},
			[]spelled{{[]byte(bad)}},
			map[string]int{},
			&pointed{[]byte(bad)},
			[]pointed{{[]byte(bad)}},
			map[string]spelled{"k": {[]byte(bad)}},
			map[label]int{label(bad): 1},
		} {
			_, err := assign.Submit(t.Context(), a.a, assign.NewKind[any, int]("any"), v)
			if refused := err != nil && strings.Contains(err.Error(), "UTF-8"); refused == (i == 5) {
				t.Errorf("%d, %T: %v", i, v, err)
			}
		}
		for _, v := range []any{
			beside[outer]{raw, outer{Aside: bad, aside: bad}},
			beside[spelled]{raw, spelled{[]byte("good")}},
			beside[*pointed]{raw, nil},
			beside[error]{raw, nil},
			beside[[]byte]{raw, []byte(bad)},
		} {
			if _, err := assign.Submit(t.Context(), a.a, assign.NewKind[any, int]("any"), v); err != nil {
				t.Errorf("%T: %v", v, err)
			}
		}
	})
}

// label has a method that the encoder does not call where it is the key of a map.
type label string

func (label) MarshalText() ([]byte, error) { return []byte("label"), nil }

// TestTextThatIsNotUTF8: JSON would change it, so an input is refused, and an output ends its task.
// A replacement character that somebody has written stays what it is.
func TestTextThatIsNotUTF8(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		type deep struct {
			In []map[string]*string
		}
		texts := assign.NewKind[string, string]("texts", assign.MaxAttempts(1))
		structs := assign.NewKind[deep, int]("structs")
		keys := assign.NewKind[map[string]int, int]("keys")
		raw := assign.NewKind[json.RawMessage, json.RawMessage]("raw")
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, texts, func(_ context.Context, task *assign.Task[string]) (string, error) {
				return task.Input + map[bool]string{true: "\xff"}[task.Input == "spoil"], nil
			}); err != nil {
				t.Error(err)
			}
			same := func(_ context.Context, task *assign.Task[json.RawMessage]) (json.RawMessage, error) {
				return task.Input, nil
			}
			if err := assign.Handle(a, raw, same); err != nil {
				t.Error(err)
			}
		})
		bad := "caf\xe9"
		_, text := assign.Submit(t.Context(), a.a, texts, bad)
		_, inside := assign.Submit(t.Context(), a.a, structs, deep{[]map[string]*string{{"k": &bad}}})
		_, key := assign.Submit(t.Context(), a.a, keys, map[string]int{"k\xfe": 1, "k\xff": 2})
		_, label := assign.Submit(t.Context(), a.a, texts, "x", assign.WithLabels(map[string]string{"k": bad}))
		for i, err := range []error{text, inside, key, label} {
			if err == nil || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("call %d: %v", i, err)
			}
		}
		for _, good := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "café"} {
			p, err := assign.Submit(t.Context(), a.a, texts, good)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Wait(t.Context()); out != good || err != nil {
				t.Errorf("%q came back as %q, %v", good, out, err)
			}
		}
		p, err := assign.Submit(t.Context(), a.a, raw, json.RawMessage(`"\ufffd"`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		spoilt, err := assign.Submit(t.Context(), a.a, texts, "spoil")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := spoilt.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("an output: %q, %v", out, err)
		}
	})
}
