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

// checksumIn is what a task is given. It runs in any process of the cluster, so all of them see the same files.
type checksumIn struct {
	Path string
	Rate float64 // bytes per second to read; 0: as fast as it goes
}

// checksumOut is what comes of it.
type checksumOut struct {
	SHA256  string
	Size    int64
	Resumed int64 // where the last attempt began: an earlier one had come so far
}

// checksum is the kind of all tasks here: the SHA-256 of one file. What a retry may cost travels with each submission.
var checksum = assign.NewKind[checksumIn, checksumOut]("checksum.v1", assign.MaxAttempts(4))

// checksumFile is the handler. It ends early when ctx does: then the task is cancelled, or this process has lost its session and
// somebody else runs the task again, from where the last checkpoint was.
//
// A file that is not there, or that may not be read, will not be so for the next attempt either.
func checksumFile(ctx context.Context, t *assign.Task[checksumIn]) (checksumOut, error) {
	f, err := os.Open(t.Input.Path)
	if err != nil {
		return checksumOut{}, verdict(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return checksumOut{}, verdict(err)
	}
	h := resume(t.Checkpoint(), f)
	begin := h.read
	r := &pacedReader{ctx: ctx, r: f, rate: t.Input.Rate, began: time.Now()}
	block := make([]byte, 32<<10)
	for due := time.Now().Add(checkpointPace); ; {
		n, err := r.Read(block)
		h.add(block[:n])
		if errors.Is(err, io.EOF) {
			return checksumOut{SHA256: hex.EncodeToString(h.sum.Sum(nil)), Size: h.read, Resumed: begin}, nil
		}
		if err != nil {
			return checksumOut{}, verdict(err)
		}
		if now := time.Now(); now.After(due) {
			due = now.Add(checkpointPace)
			h.tell(ctx, t, info.Size())
		}
	}
}

const checkpointPace = 50 * time.Millisecond

// hashing is a digest in the making. The standard library's can be stored and gone on with elsewhere.
type hashing struct {
	sum  hash.Hash
	read int64
}

// progress is a checkpoint.
type progress struct {
	Read  int64
	State []byte
}

// resume begins where an earlier attempt was, or at the start.
func resume(checkpoint []byte, f io.Seeker) *hashing {
	h := &hashing{sum: sha256.New()}
	var p progress
	if json.Unmarshal(checkpoint, &p) != nil || h.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.State) != nil {
		return h
	}
	if _, err := f.Seek(p.Read, io.SeekStart); err != nil {
		return &hashing{sum: sha256.New()}
	}
	h.read = p.Read
	return h
}

func (h *hashing) add(b []byte) {
	h.read += int64(len(b))
	h.sum.Write(b) // never returns an error
}

// tell reports how far the task is. While nobody leads it is not waited for: there will be a later one.
func (h *hashing) tell(ctx context.Context, t *assign.Task[checksumIn], size int64) {
	state, err := h.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return
	}
	checkpoint, err := json.Marshal(progress{h.read, state})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkpointPace)
	defer cancel()
	_ = t.Progress(ctx, float64(h.read)/float64(max(size, h.read, 1)), checkpoint) // the next one may be stored
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
