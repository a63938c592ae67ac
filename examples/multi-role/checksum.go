package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// checksumIn is what a task is given. It runs in any process of the cluster, so all of them see the same files.
type checksumIn struct {
	Path string
	Rate float64 // bytes per second to read; 0: as fast as it goes
}

// checksumOut is what comes of it.
type checksumOut struct {
	SHA256 string
	Size   int64
}

// checksum is the kind of all tasks here: the SHA-256 of one file. What a retry may cost travels with each submission.
var checksum = assign.NewKind[checksumIn, checksumOut]("checksum.v1", assign.MaxAttempts(4))

// hash is the handler. It ends early when ctx does: then the task is cancelled, or this process has lost its session and
// somebody else runs the task again.
//
// A file that is not there, or that may not be read, will not be so for the next attempt either.
func hash(ctx context.Context, in checksumIn) (checksumOut, error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return checksumOut{}, verdict(err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, &pacedReader{ctx: ctx, r: f, rate: in.Rate, began: time.Now()})
	if err != nil {
		return checksumOut{}, verdict(err)
	}
	return checksumOut{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
}

// verdict says which errors another attempt cannot cure.
func verdict(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return assign.Permanent(err)
	}
	return err
}

// pacedReader reads no faster than rate since it began, and not at all once ctx has ended.
type pacedReader struct {
	ctx   context.Context
	r     io.Reader
	rate  float64
	began time.Time
	read  int64
}

// pacedChunk is about how many seconds of reading one chunk holds.
const pacedChunk = 0.05

func (p *pacedReader) Read(b []byte) (int, error) {
	if p.rate > 0 {
		b = b[:min(len(b), int(max(p.rate*pacedChunk, 1)))]
	}
	n, err := p.r.Read(b)
	p.read += int64(n)
	if waited := p.wait(); waited != nil {
		return n, waited
	}
	return n, err
}

// wait until what was read so far was due.
func (p *pacedReader) wait() error {
	if p.rate > 0 {
		due := p.began.Add(time.Duration(float64(p.read) / p.rate * float64(time.Second)))
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.ctx.Done():
		}
	}
	return context.Cause(p.ctx)
}
