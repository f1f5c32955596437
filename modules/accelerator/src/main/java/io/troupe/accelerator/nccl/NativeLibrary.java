package io.troupe.accelerator.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/** A shared library in a file, whose functions return an error number. It is never unloaded. */
final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();

  private final Path file;
  private final SymbolLookup symbols;

  private NativeLibrary(Path file, SymbolLookup symbols) {
    this.file = file;
    this.symbols = symbols;
  }

  @SuppressWarnings("restricted") // the operator names the file, as for the inference servers
  static NativeLibrary open(Path file) {
    try {
      return new NativeLibrary(file, SymbolLookup.libraryLookup(file, Arena.global()));
    } catch (IllegalArgumentException unloadable) {
      throw new AcceleratorException("%s cannot be loaded".formatted(file), unloadable);
    }
  }

  Path file() {
    return file;
  }

  /** Returns a function that returns an {@code int}. */
  MethodHandle function(String name, MemoryLayout... arguments) {
    return find(name, FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments))
        .orElseThrow(
            () ->
                new AcceleratorException(
                    "%s has no function %s; take the library of a newer PyTorch"
                        .formatted(file, name)));
  }

  /** Returns a function that older libraries do not have. */
  @SuppressWarnings("restricted") // the signatures are those of the libraries' headers
  Optional<MethodHandle> find(String name, FunctionDescriptor type) {
    return symbols.find(name).map(address -> LINKER.downcallHandle(address, type));
  }
}
