package main

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// checksum is a kind of task: the SHA-256 of one file. How often it may be tried travels with each
// submission.
var checksum = assign.NewKind[checksumIn, checksumOut]("checksum.v1", assign.MaxAttempts(4))

// checksumIn is the input. The task runs in any process of the cluster, so all of them must see the
// same files.
type checksumIn struct {
	Path string
	Rate float64 // bytes per second to read, 0 for no limit
}

// checksumOut is the output.
type checksumOut struct {
	SHA256  string
	Size    int64
	Resumed int64 // where the last attempt began, since an earlier one had left a checkpoint there
}

const checkpointInterval = 50 * time.Millisecond

// checksumFile is the handler. It returns early when ctx ends: then the task is cancelled, or this
// process has lost its session, and another process resumes the task from its last checkpoint.
func checksumFile(ctx context.Context, t *assign.Task[checksumIn]) (checksumOut, error) {
	f, err := os.Open(t.Input.Path)
	if err != nil {
		return checksumOut{}, permanent(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return checksumOut{}, permanent(err)
	}
	d := resume(t.Checkpoint(), f)
	begin := d.read
	r := &throttledReader{ctx: ctx, r: f, rate: t.Input.Rate, began: time.Now()}
	block := make([]byte, 32<<10)
	for due := time.Now().Add(checkpointInterval); ; {
		n, err := r.Read(block)
		d.add(block[:n])
		if errors.Is(err, io.EOF) {
			return checksumOut{SHA256: hex.EncodeToString(d.sum.Sum(nil)), Size: d.read, Resumed: begin}, nil
		}
		if err != nil {
			return checksumOut{}, permanent(err)
		}
		if now := time.Now(); now.After(due) {
			due = now.Add(checkpointInterval)
			d.save(ctx, t, info.Size())
		}
	}
}

// permanent marks the errors that another attempt would meet again: the file is gone, or may not be
// read.
func permanent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return assign.Permanent(err)
	}
	return err
}

// digester is an unfinished digest. That of the standard library can be stored, and continued in
// another process.
type digester struct {
	sum  hash.Hash
	read int64
}

// checkpoint is a stored digester.
type checkpoint struct {
	Read  int64
	State []byte
}

// resume continues where an earlier attempt was, or begins at the start.
func resume(stored []byte, f io.Seeker) *digester {
	d := &digester{sum: sha256.New()}
	var c checkpoint
	if json.Unmarshal(stored, &c) != nil || d.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(c.State) != nil {
		return d
	}
	if _, err := f.Seek(c.Read, io.SeekStart); err != nil {
		return &digester{sum: sha256.New()}
	}
	d.read = c.Read
	return d
}

func (d *digester) add(b []byte) {
	d.read += int64(len(b))
	d.sum.Write(b) // never returns an error
}

// save reports how far the task is. While no scheduler leads, it does not wait: the next checkpoint
// comes soon.
func (d *digester) save(ctx context.Context, t *assign.Task[checksumIn], size int64) {
	state, err := d.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return
	}
	stored, err := json.Marshal(checkpoint{d.read, state})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkpointInterval)
	defer cancel()
	_ = t.Progress(ctx, float64(d.read)/float64(max(size, d.read, 1)), stored)
}

// throttledReader reads at most rate bytes per second since it began, and stops when ctx ends.
type throttledReader struct {
	ctx   context.Context
	r     io.Reader
	rate  float64 // 0 for no limit
	began time.Time
	read  int64
}

func (t *throttledReader) Read(b []byte) (int, error) {
	if t.rate > 0 {
		b = b[:min(len(b), int(max(t.rate/20, 1)))] // a twentieth of a second
	}
	n, err := t.r.Read(b)
	t.read += int64(n)
	if ended := t.wait(); ended != nil {
		return n, ended
	}
	return n, err
}

// wait returns when that many bytes are due.
func (t *throttledReader) wait() error {
	if t.rate > 0 {
		due := t.began.Add(time.Duration(float64(t.read) / t.rate * float64(time.Second)))
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.ctx.Done():
		}
	}
	return context.Cause(t.ctx)
}
