package main

import (
	"bytes"
	"io"
	"sync"
)

// turns passes on what stages write that run beside each other, so that it reads as if they ran one
// after the other: what the first one writes appears at once, and what the others write when those
// before have ended. When one fails, what it wrote appears next, and nothing else does any more.
type turns struct {
	mu     sync.Mutex
	to     io.Writer
	turn   int // the stage whose output is passed on at once
	held   []bytes.Buffer
	ended  []bool
	failed bool
}

func newTurns(to io.Writer, stages int) *turns {
	return &turns{to: to, held: make([]bytes.Buffer, stages), ended: make([]bool, stages)}
}

// of is where a stage writes. Several of its commands may write at a time.
func (t *turns) of(stage int) io.Writer { return &turn{t, stage} }

// turn is where one stage writes.
type turn struct {
	*turns
	stage int
}

func (t *turn) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.failed:
		return len(p), nil
	case t.stage == t.turn:
		return t.to.Write(p)
	}
	return t.held[t.stage].Write(p)
}

// end notes how a stage has ended. The turn is of the next one that has not.
func (t *turns) end(stage int, failure error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed {
		return
	}
	if t.ended[stage], t.failed = true, failure != nil; t.failed {
		t.pass(stage)
		return
	}
	for t.turn < len(t.ended) && t.ended[t.turn] {
		if t.turn++; t.turn < len(t.ended) {
			t.pass(t.turn)
		}
	}
}

// pass passes on what was held back of a stage. A writer that fails is not told to the stage: the
// output of a check is not its result.
func (t *turns) pass(stage int) {
	_, _ = t.held[stage].WriteTo(t.to)
}
