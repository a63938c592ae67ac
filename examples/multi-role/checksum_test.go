package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rolemanager/rolemanager/assigntest"
)

func TestChecksumFile(t *testing.T) {
	root := plant(t, "file", "empty/")
	path := filepath.Join(root, "file")
	out, err := checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: path}))
	sum := sha256.Sum256([]byte("content of file"))
	if want := hex.EncodeToString(sum[:]); err != nil || out.SHA256 != want || out.Size != 15 {
		t.Errorf("got %+v (%v), want %s", out, err, want)
	}
	_, err = checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: path + ".gone"}))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file that is not there: %v", err)
	}
	if _, err := checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: root})); err == nil {
		t.Error("a directory has a digest")
	}
}

// TestChecksumResumes: an attempt that ends early leaves a checkpoint, and the next one continues
// from there to the same digest.
func TestChecksumResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		content := bytes.Repeat([]byte("0123456789"), 1000)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		in := checksumIn{Path: path, Rate: 2000}
		first := assigntest.NewTask(t, in)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := checksumFile(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after two of five seconds: %v", err)
		}
		reports := assigntest.Progress(first)
		if len(reports) < 2 {
			t.Fatalf("%d reports of progress, want at least two", len(reports))
		}
		last := reports[len(reports)-1]
		out, err := checksumFile(t.Context(), assigntest.NewTask(t, in, assigntest.Checkpoint(last.Checkpoint)))
		sum := sha256.Sum256(content)
		if want := hex.EncodeToString(sum[:]); err != nil || out.SHA256 != want || out.Size != int64(len(content)) {
			t.Errorf("got %+v (%v), want %s", out, err, want)
		}
		if out.Resumed < 3000 || out.Resumed > 4200 {
			t.Errorf("it resumed at byte %d, want about 4000", out.Resumed)
		}
	})
}

func TestThrottledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := bytes.Repeat([]byte("x"), 10_000)
		began := time.Now()
		r := &throttledReader{ctx: t.Context(), r: bytes.NewReader(content), rate: 2000, began: began}
		read, err := io.ReadAll(r)
		if err != nil || len(read) != len(content) {
			t.Fatal(len(read), err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("10000 bytes at 2000 per second took %v", took)
		}

		reason := errors.New("no longer wanted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		began = time.Now()
		read, err = io.ReadAll(&throttledReader{ctx: ctx, r: bytes.NewReader(content), rate: 2000, began: began})
		if took := time.Since(began); !errors.Is(err, reason) || took != time.Second || len(read) > 2200 {
			t.Errorf("cancelled after a second: %d bytes, %v, in %v", len(read), err, took)
		}
	})
}
