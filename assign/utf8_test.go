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
