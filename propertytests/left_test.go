//go:build !realtime

package propertytests_test

import "go.uber.org/goleak"

// leftByServers: no goroutine may be left.
var leftByServers []goleak.Option
