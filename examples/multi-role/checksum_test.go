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

func TestHash(t *testing.T) {
	root := plant(t, "file", "empty/")
	path := filepath.Join(root, "file")
	out, err := checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: path}))
	sum := sha256.Sum256([]byte("content of file"))
	if want := hex.EncodeToString(sum[:]); err != nil || out.SHA256 != want || out.Size != 15 {
		t.Errorf("got %+v (%v), want %s", out, err, want)
	}
	local, err := digest(path)
	if err != nil || local != out.SHA256 {
		t.Errorf("computed here: %s (%v)", local, err)
	}
	if _, err := checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: path + ".gone"})); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file that is not there: %v", err)
	}
	if _, err := checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: root})); err == nil {
		t.Error("a directory has a digest")
	}
}

// TestHashGoesOn: an attempt that ends early leaves a checkpoint, and the next one goes on from there to the same digest.
func TestHashGoesOn(t *testing.T) {
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
		told := assigntest.Progress(first)
		if len(told) < 2 {
			t.Fatalf("told %d times how far it is, want at least twice", len(told))
		}
		last := told[len(told)-1]
		out, err := checksumFile(t.Context(), assigntest.NewTask(t, in, assigntest.Checkpoint(last.Checkpoint)))
		sum := sha256.Sum256(content)
		if want := hex.EncodeToString(sum[:]); err != nil || out.SHA256 != want || out.Size != int64(len(content)) {
			t.Errorf("got %+v (%v), want %s", out, err, want)
		}
		if out.Resumed < 3000 || out.Resumed > 4200 {
			t.Errorf("it went on from byte %d, want about 4000", out.Resumed)
		}
	})
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := bytes.Repeat([]byte("x"), 10_000)
		began := time.Now()
		read, err := io.ReadAll(&pacedReader{ctx: t.Context(), r: bytes.NewReader(content), rate: 2000, began: began})
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
		read, err = io.ReadAll(&pacedReader{ctx: ctx, r: bytes.NewReader(content), rate: 2000, began: began})
		if took := time.Since(began); !errors.Is(err, reason) || took != time.Second || len(read) > 2200 {
			t.Errorf("cancelled after a second: %d bytes, %v, in %v", len(read), err, took)
		}
	})
}

func TestDefaultPace(t *testing.T) {
	files := make([]file, 300)
	for i := range files {
		files[i].size = 5000
	}
	few, many := defaultPace(files, 1, 2*time.Second), defaultPace(files, 5, 2*time.Second)
	if few.rate <= many.rate || many.rate <= 0 {
		t.Errorf("one instance reads at %v per task, five at %v", few, many)
	}
	// One instance hashes all of it, four tasks at a time, in what is left of the target; with the worker until that is killed.
	const alone = (killWhen/2.0 + (6 - killWhen)) / 6
	if took := alone * 300 * 5000 / (few.rate * slots); took < 7.9 || took > 8.1 {
		t.Errorf("one instance takes %.1f s", took)
	}
	// One file that is larger than all others together takes longestTask, and they take the rest.
	files[0].size = 1 << 30
	skewed := defaultPace(files, 1, 2*time.Second)
	if took := skewed.duration(1 << 30); took != longestTask || float64(1<<30)/skewed.of(1<<30) > 2 {
		t.Errorf("the largest file takes %v, at %v", took, skewed.of(1<<30))
	}
	if took := alone * 299 * 5000 / (skewed.of(5000) * slots); took < 7 || took > 8 {
		t.Errorf("the others take %.1f s", took)
	}
	// What the command line says holds for all.
	if fixed := (pace{rate: 10, longer: true}); fixed.of(5000) != 10 || fixed.duration(5000) != 500*time.Second {
		t.Errorf("at 10 bytes per second: %v for %v", fixed.of(5000), fixed.duration(5000))
	}
	if none := defaultPace(make([]file, 3), 3, time.Second); none.of(0) != 0 || none.duration(0) != 0 {
		t.Errorf("empty files are read at %v", none)
	}
}
