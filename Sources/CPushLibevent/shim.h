/* These headers bring the C library's along, and whichever module the compiler meets first owns a name such as
   SOCK_NONBLOCK: a file that uses the C library beside libevent imports both modules, or finds it only sometimes. */
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <event2/event.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>

/* Optimised builds find the enumeration of socket types in no module. */
static inline int push_sock_stream(void) { return SOCK_STREAM; }
static inline int push_sock_loop(void) { return SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC; }

/* Swift's Glibc has no eventfd and sees accept4 without its address types. */
static inline int push_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int push_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

/* Swift's Glibc leaves malloc.h out. */
static inline int push_malloc_trim(void) { return malloc_trim(0); }

/* The module of OpenSSL is not imported here: two modules that both hold its headers would give Swift two of
   each type. This is all that a TLS bufferevent needs, declared as OpenSSL 3 declares it. */
struct ssl_ctx_st;
struct ssl_st;
struct ssl_st *SSL_new(struct ssl_ctx_st *context);

/* A TLS bufferevent for one accepted connection; owns its SSL. NULL when either cannot be made. */
static inline struct bufferevent *push_bufferevent_tls(struct event_base *base, void *ssl_context) {
    struct ssl_st *ssl = SSL_new((struct ssl_ctx_st *)ssl_context);
    if (ssl == NULL) return NULL;
    return bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
}
