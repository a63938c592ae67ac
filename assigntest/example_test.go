package assigntest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/fencing"
)

// greet is the handler under test.
func greet(_ context.Context, t *assign.Task[string]) (string, error) {
	if t.Input == "" {
		return "", assign.Permanent(errors.New("nobody to greet"))
	}
	return "hello " + t.Input, nil
}

var greeting = assign.NewKind[string, string]("greeting.v1")

func Example() {
	tb := &testing.B{} // in a test: t

	out, err := greet(context.Background(), assigntest.NewTask(tb, "world"))
	fmt.Println(out, err)
	_, err = greet(context.Background(), assigntest.NewTask(tb, ""))
	fmt.Println(err)
	// Output:
	// hello world <nil>
	// nobody to greet
}

func TestStart(t *testing.T) {
	ns := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, greeting, greet); err != nil {
			t.Fatal(err)
		}
	})
	for in, want := range map[string]error{"you": nil, "": assign.ErrTaskDead} {
		p, err := assign.Submit(t.Context(), ns, greeting, in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Wait(t.Context())
		if !errors.Is(err, want) || err == nil && out != "hello you" {
			t.Errorf("%q: %q, %v", in, out, err)
		}
	}
}

func TestNewTask(t *testing.T) {
	first := assigntest.NewTask(t, 1, assigntest.ID("x"))
	again := assigntest.NewTask(t, 1, assigntest.ID("x"), assigntest.Attempt(2), assigntest.Kind("k"), assigntest.TraceParent("00-1"))
	if again.ID() != "x" || again.Attempt() != 2 || again.Kind() != "k" || again.TraceParent() != "00-1" || again.Input != 1 {
		t.Errorf("%+v", again)
	}
	var guard fencing.Guard
	if err := errors.Join(guard.Admit(first.Fence()), guard.Admit(again.Fence())); err != nil {
		t.Error(err)
	}
	if err := guard.Admit(first.Fence()); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("an earlier attempt: %v", err)
	}
}
