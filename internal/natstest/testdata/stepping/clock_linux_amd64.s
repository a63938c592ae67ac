#include "textflag.h"

// func install() bool
TEXT ·install(SB), NOSPLIT, $0-1
	MOVQ runtime·vdsoClockgettimeSym(SB), AX
	MOVQ AX, ·kernels(SB)
	TESTQ AX, AX
	SETNE ret+0(FP)
	JEQ  none
	LEAQ ·readClock(SB), CX
	MOVQ CX, runtime·vdsoClockgettimeSym(SB)

none:
	RET

// func readClock()
TEXT ·readClock(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ DI
	PUSHQ SI
	SUBQ  $8, SP // C wants a stack that is aligned to 16 bytes
	MOVQ  ·kernels(SB), AX
	CALL  AX
	ADDQ  $8, SP
	POPQ  SI
	POPQ  DI
	TESTL DI, DI // CLOCK_REALTIME
	JNE   done
	MOVQ  ·stepped(SB), CX
	ADDQ  CX, (SI)

done:
	RET
