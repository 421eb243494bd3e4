package store

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// lookAtPlace looks at the file system of an existing path.
func lookAtPlace(path string) (place, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return place{}, err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return place{}, &os.PathError{Op: "volume", Path: path, Err: err}
	}
	var volume, system [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumePathName(name, &volume[0], uint32(len(volume))); err != nil {
		return place{}, &os.PathError{Op: "GetVolumePathName", Path: path, Err: err}
	}
	p := place{system: "network drive", mount: windows.UTF16ToString(volume[:]),
		shared: windows.GetDriveType(&volume[0]) == windows.DRIVE_REMOTE} // also of \\server\share
	err = windows.GetVolumeInformation(&volume[0], nil, 0, nil, nil, nil, &system[0], uint32(len(system)))
	if err == nil && !p.shared {
		p.system = windows.UTF16ToString(system[:])
	}
	return p, nil
}

// thisMachine names this machine. A server of Windows' shares keeps the locks of all machines and frees them with their
// processes, so that it does not matter when this one was booted.
func thisMachine() (machine, boot string) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`,
		registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", ""
	}
	defer func() { _ = key.Close() }() // nothing was written
	machine, _, _ = key.GetStringValue("MachineGuid")
	return machine, machine
}
