package guard

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestServeOnAnOldKernel: one before 6.5 says that it does not know SO_PASSPIDFD, as a filter of
// system calls does here. Serve refuses at once, names what to do, and leaves no socket.
func TestServeOnAnOldKernel(t *testing.T) {
	const number, option = 0, 32 // in what a filter sees: of the call, and of its third argument
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_SETSOCKOPT},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: option},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SO_PASSPIDFD},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOPROTOOPT)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	nc, path, refused := nobody(t), filepath.Join(t.TempDir(), "guard"), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread has the filter, and ends with this goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			refused <- err
			return
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		at := uintptr(unsafe.Pointer(&program))
		if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, at, 0, 0); err != nil {
			refused <- err
			return
		}
		refused <- Serve(t.Context(), Config{Conn: nc}, path, nil)
	}()
	if err := <-refused; !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "rolectl guard -- PROGRAM") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
