package kube

import (
	"context"
	"net/http"
	"time"
)

// keeper writes the slice of one term.
type keeper struct {
	client *Client
	name   string

	last    *slice    // as this term has written it last
	foreign string    // the resourceVersion of a slice of another bucket
	since   time.Time // when it was first seen
}

// write is look, again while others write at the same time.
func (k *keeper) write(ctx context.Context, want slice) (wait time.Duration, err error) {
	for range 10 {
		wait, err = k.look(ctx, want)
		if !answers(err, http.StatusConflict) {
			break
		}
	}
	return wait, err
}

// look writes the slice, unless it is as wanted. It returns how long to wait where another bucket
// may still have a leader, 0 if nothing is left to do. Errors: ErrStale, ErrForeign, *StatusError,
// those of the connection.
func (k *keeper) look(ctx context.Context, want slice) (wait time.Duration, err error) {
	var found slice
	err = k.client.do(ctx, http.MethodGet, k.client.slices(k.name), "", nil, &found)
	if answers(err, http.StatusNotFound) {
		return 0, k.store(ctx, http.MethodPost, k.client.slices(), want)
	}
	if err != nil {
		return 0, err
	}
	rest, err := claimOf(want).judge(found)
	if err != nil {
		return 0, err
	}
	if rest > 0 {
		version := found.Metadata.ResourceVersion
		if k.foreign != version {
			k.foreign, k.since = version, time.Now()
		}
		if rest -= time.Since(k.since); rest > 0 {
			return rest, nil
		}
	}
	if same(found, want) {
		k.last = &found
		return 0, nil
	}
	return 0, k.store(ctx, http.MethodPut, k.client.slices(k.name), want.over(found))
}

// store sends a slice, on the condition that it is as it was found.
func (k *keeper) store(ctx context.Context, method, path string, s slice) error {
	k.last = &s // it may be stored although no answer comes
	var stored slice
	if err := k.client.do(ctx, method, path, "application/json", s, &stored); err != nil {
		return err
	}
	k.last = &stored
	return nil
}

// clear empties the slice if it is still that of this term.
func (k *keeper) clear(ctx context.Context) error {
	if k.last == nil {
		return nil
	}
	mine := claimOf(*k.last)
	for {
		var found slice
		err := k.client.do(ctx, http.MethodGet, k.client.slices(k.name), "", nil, &found)
		if answers(err, http.StatusNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		was := claimOf(found)
		if was.bucket != mine.bucket || was.role != mine.role || was.epoch > mine.epoch || len(found.Endpoints) == 0 {
			return nil // it is a successor's, or empty already
		}
		found.Endpoints = []endpoint{}
		err = k.store(ctx, http.MethodPut, k.client.slices(k.name), found)
		if !answers(err, http.StatusConflict) {
			return err
		}
	}
}
