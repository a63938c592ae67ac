package assigntest_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/fencing"
)

func TestNewTask(t *testing.T) {
	first := assigntest.NewTask(t, 1, assigntest.ID("x"))
	again := assigntest.NewTask(t, 1, assigntest.ID("x"), assigntest.Attempt(2), assigntest.Kind("k"),
		assigntest.TraceParent("00-1"),
		assigntest.Header("a", "1"), assigntest.Header("b", "2"), assigntest.Checkpoint([]byte("half")))
	if again.ID() != "x" || again.Attempt() != 2 || again.Kind() != "k" || again.TraceParent() != "00-1" ||
		again.Input != 1 ||
		again.Header("a") != "1" || !maps.Equal(again.Headers(), map[string]string{"a": "1", "b": "2"}) ||
		string(again.Checkpoint()) != "half" {
		t.Errorf("%+v", again)
	}
	if first.Header("a") != "" || first.Headers() != nil || first.Checkpoint() != nil {
		t.Errorf("%+v", first)
	}
	again.Headers()["a"] = "changed"
	if again.Header("a") != "1" {
		t.Error("Headers is not the caller's own")
	}
	var guard fencing.Guard
	if err := errors.Join(guard.Admit(first.Fence()), guard.Admit(again.Fence())); err != nil {
		t.Error(err)
	}
	if err := guard.Admit(first.Fence()); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("an earlier attempt: %v", err)
	}
}

func TestProgressIsRecorded(t *testing.T) {
	task := assigntest.NewTask(t, 1)
	buffer := []byte("a")
	if err := errors.Join(task.Progress(t.Context(), 1.5, nil), task.Progress(t.Context(), -1, buffer),
		task.Progress(t.Context(), 0.5, []byte{})); err != nil {
		t.Error(err)
	}
	buffer[0] = 'x' // it is the handler's own again
	want := []assigntest.Report{
		{Fraction: 1},
		{Fraction: 0, Checkpoint: []byte("a")},
		{Fraction: 0.5, Checkpoint: []byte{}},
	}
	if got := assigntest.Progress(task); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := task.Progress(t.Context(), 1, make([]byte, 16<<10+1)); !errors.Is(err, assign.ErrCheckpointTooLarge) {
		t.Errorf("a large checkpoint: %v", err)
	}
	cause := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := task.Progress(ctx, 1, nil); !errors.Is(err, cause) {
		t.Errorf("after the end of its context: %v", err)
	}
	if n := len(assigntest.Progress(task)); n != len(want) {
		t.Errorf("%d reports, want %d", n, len(want))
	}
	if err := (&assign.Task[int]{}).Progress(t.Context(), 1, nil); err != nil ||
		assigntest.Progress(&assign.Task[int]{}) != nil {
		t.Errorf("a task that nobody runs: %v", err)
	}
}
