package io.troupe.accelerator.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/** A shared library in a file, whose functions return an error number. It is never unloaded. */
final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle SETENV =
      ofTheCLibrary("setenv", ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
  private static final MethodHandle UNSETENV = ofTheCLibrary("unsetenv", ValueLayout.ADDRESS);

  private static final MethodHandle GETENV = getenv();

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

  /** A call that reads a variable of the process's environment with {@code getenv}. */
  interface Reader<T> {
    T read();
  }

  /**
   * Sets a variable of the process's environment during a call. It must not stay: children inherit
   * it, and an inference server that this process starts loads the same library.
   */
  static synchronized <T> T withVariable(String name, String value, Reader<T> reader) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(name);
      MemorySegment text = arena.allocateFrom(value);
      int _ = (int) SETENV.invokeExact(key, text, 1);
      T result = reader.read();
      int _ = (int) UNSETENV.invokeExact(key);
      return result;
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Throwable impossible) {
      throw new AssertionError("a function in C throws nothing", impossible);
    }
  }

  /** Sets a variable for libraries of this process; Java's own view does not change. */
  static synchronized void setVariable(String name, String value) {
    try (Arena arena = Arena.ofConfined()) {
      int _ = (int) SETENV.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 1);
    } catch (Throwable impossible) {
      throw new AssertionError("a function in C throws nothing", impossible);
    }
  }

  /** Reads a variable as libraries of this process do. */
  @SuppressWarnings("restricted") // a string of the C library
  static synchronized Optional<String> variable(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = (MemorySegment) GETENV.invokeExact(arena.allocateFrom(name));
      return found.equals(MemorySegment.NULL)
          ? Optional.empty()
          : Optional.of(found.reinterpret(Long.MAX_VALUE).getString(0));
    } catch (Throwable impossible) {
      throw new AssertionError("a function in C throws nothing", impossible);
    }
  }

  @SuppressWarnings("restricted") // functions of the C library
  private static MethodHandle ofTheCLibrary(String name, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
  }

  @SuppressWarnings("restricted") // a function of the C library
  private static MethodHandle getenv() {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow("getenv"),
        FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
  }
}
