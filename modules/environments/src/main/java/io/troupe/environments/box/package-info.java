/** Sessions of Python and of a shell, and files, in a sandbox that lives for one episode. */
@NullMarked
package io.troupe.environments.box;

import org.jspecify.annotations.NullMarked;
