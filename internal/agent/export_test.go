package agent

// OfferedName is offeredName, for tests.
var OfferedName = offeredName
