//go:build !realtime

package live_test

import "go.uber.org/goleak"

// leftByServers: no goroutine may be left.
var leftByServers []goleak.Option
